import { type Audience, createFeed, type Feed, readChanges, type ReadResult, tenant } from '@tidemark/core'
import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { openPool } from '../cli/open-pool.ts'
import { READER, type Schema } from './schema.ts'

const tables = {
  item: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
  city: { tenant: null, key: 'id' },
} as const

/** A read as the library ran it: what it answered, and the statement that asked the log. */
export interface Read {
  readonly answer: ReadResult
  readonly statement: Statement
}

/** SQL with the values it was sent with. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The reader's tenant over one connection, by the public API alone; what it sends is overheard through Kysely's log. */
export class Reader implements AsyncDisposable {
  readonly #db: Kysely<Schema>
  readonly #feed: Feed<Schema, typeof tables>
  readonly #audience: Audience = tenant(READER)
  #sent: CompiledQuery[] = []

  constructor(url: string) {
    this.#db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: openPool({ connectionString: url, max: 1 }) }),
      log: ({ query }) => void this.#sent.push(query),
    })
    this.#feed = createFeed({ db: this.#db, tables })
  }

  async install(): Promise<void> {
    await this.#feed.migrate()
  }

  /** Reads one page and keeps the statement. */
  async read(since: string): Promise<Read> {
    this.#sent = []
    const answer = await readChanges(this.#feed, this.#audience, { since })
    // A read for which the catalogue or the tenant was not known yet asks more than once; what read the log is the last of them.
    const query = this.#sent.findLast(({ sql }) => sql.includes('"tidemark".log'))
    if (query === undefined) throw new Error('the read sent no statement over the log')
    return { answer, statement: { text: query.sql, values: query.parameters } }
  }

  /** A cursor at the head of the feed. */
  async head(): Promise<string> {
    const { answer } = await this.read('now')
    if (!('changes' in answer)) throw new Error(`no cursor: ${JSON.stringify(answer)}`)
    return answer.cursor
  }

  /** Reads a page that must hold `changes`, and must be the last one if there are none. */
  async page(since: string, changes: number): Promise<Read> {
    const read = await this.read(since)
    if (
      !('changes' in read.answer) ||
      read.answer.changes.length !== changes ||
      read.answer.upToDate !== (changes === 0)
    )
      throw new Error(`expected a page of ${changes} changes, got ${JSON.stringify(read.answer).slice(0, 500)}`)
    return read
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy()
  }
}
