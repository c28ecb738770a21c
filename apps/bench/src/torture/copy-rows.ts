import { sql } from 'kysely'
import type pg from 'pg'
import type { Work } from './writer-context.ts'

/** What `pg` has for COPY beyond its types. */
interface CopyConnection extends pg.Connection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

type Value = string | number | null

/** COPY … FROM STDIN in the simple query protocol, in the shape of what a client of `pg` calls back. */
class CopyIn implements pg.Submittable {
  readonly ended: Promise<void>
  readonly #statement: string
  readonly #data: Buffer
  #resolve: () => void = () => {}
  #reject: (error: Error) => void = () => {}

  constructor(statement: string, data: Buffer) {
    this.#statement = statement
    this.#data = data
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#statement)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#data)
    connection.endCopyFrom()
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve()
  }

  handleError(error: Error): void {
    this.#reject(error)
  }
}

/** Copies rows into a table inside the writer's transaction. `target`: quoted table and columns. */
export async function copyRows(work: Work, target: string, rows: readonly (readonly Value[])[]): Promise<void> {
  const { rows: backends } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(work.trx)
  const client = work.side.sessions.get(backends[0]?.pid ?? 0)
  if (client === undefined) throw new Error('the transaction has no known session')
  const copy = new CopyIn(`copy ${target} from stdin`, Buffer.from(rows.map(lineOf).join('')))
  client.query(copy)
  await copy.ended
  work.did('copies')
}

function lineOf(values: readonly Value[]): string {
  return `${values.map((value) => (value === null ? '\\N' : escaped(String(value)))).join('\t')}\n`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\\t\n\r]/g, (char) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[char] ?? '\\\\')
}
