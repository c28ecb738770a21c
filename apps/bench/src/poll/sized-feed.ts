import pg from 'pg'
import { progress } from '../cli/output.ts'
import { Explainer } from './explain.ts'
import { vacuumLog, writeEntries, writeOthersEntries } from './fill.ts'
import { Reader } from './reader.ts'
import { createTables, OTHERS_EVERY, READER } from './schema.ts'

/** Transactions of other tenants that are open when the busy cursor is made, and entries that other tenants write behind it. */
const OPEN_WRITERS = 8
const OTHERS_LATER = 1000

/** Cursors of one reader, all as the library returned them. */
export interface Cursors {
  /** At the head; nothing was written since. */
  readonly quiet: string
  /** At the head of its tenant too, but made among open transactions, and other tenants wrote since. */
  readonly busy: string
  /** Before everything. */
  readonly far: string
  /** Before the last `near` entries. */
  readonly near: string
}

/** A database whose log holds what its reader can read `entries` of, and that reader. */
export class SizedFeed implements AsyncDisposable {
  readonly reader: Reader
  readonly explainer: Explainer
  readonly cursors: Cursors
  /** Entries of the whole log. */
  readonly entries: number

  private constructor(reader: Reader, explainer: Explainer, cursors: Cursors, entries: number) {
    this.reader = reader
    this.explainer = explainer
    this.cursors = cursors
    this.entries = entries
  }

  /** Fills a fresh database. The last vacuum and analyze lies 2 % back, or `near`, as it would in a feed that is written to. */
  static async fill(url: string, entries: number, near: number): Promise<SizedFeed> {
    const start = performance.now()
    const reader = new Reader(url)
    const explainer = new Explainer(url)
    const sessions = await connect(url, 1 + OPEN_WRITERS)
    try {
      const [admin, ...writers] = sessions
      if (admin === undefined) throw new Error('no session')
      await createTables(admin)
      await reader.install()
      await explainer.connect()

      const late = Math.max(Math.ceil(entries / 50), near)
      const far = await reader.head()
      await writeEntries(admin, entries - late)
      await vacuumLog(admin)
      await writeEntries(admin, late - near)
      const nearHead = await reader.head()
      await writeEntries(admin, near - 1)
      await begin(writers)
      await writeEntries(admin, 1)
      const busy = await reader.head()
      for (const writer of writers) await writer.query('commit')
      await writeOthersEntries(admin, OTHERS_LATER)
      const quiet = await reader.head()

      const { rows } = await admin.query<{ entries: string; readable: string }>(
        `select count(*)::text as entries, (count(*) filter (where tenant is null or tenant = '${READER}'))::text as readable from tidemark.log`,
      )
      const total = Number(rows[0]?.entries)
      if (!(Number(rows[0]?.readable) >= entries))
        throw new Error(`the reader can read ${rows[0]?.readable} entries, not ${entries}`)
      progress(`${total} entries through capture in ${Math.round((performance.now() - start) / 1000)} s`)
      return new SizedFeed(reader, explainer, { quiet, busy, far, near: nearHead }, total)
    } catch (error) {
      await reader[Symbol.asyncDispose]()
      await explainer[Symbol.asyncDispose]()
      throw error
    } finally {
      for (const session of sessions) await session.end()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reader[Symbol.asyncDispose]()
    await this.explainer[Symbol.asyncDispose]()
  }
}

async function connect(url: string, count: number): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  for (let i = 0; i < count; i++) {
    const client = new pg.Client({ connectionString: url })
    // The next query fails when the connection has broken; unheard, the event would end the process before.
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
  }
  return clients
}

/** Each writer writes one row of another tenant and stays open. */
async function begin(writers: readonly pg.Client[]): Promise<void> {
  for (const [i, writer] of writers.entries()) {
    await writer.query('begin')
    const { rowCount } = await writer.query(`update item set title = 'open' where id = $1`, [OTHERS_EVERY * (i + 1)])
    if (rowCount !== 1) throw new Error('an open writer wrote nothing')
  }
}
