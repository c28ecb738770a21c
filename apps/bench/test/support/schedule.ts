import { type Audience, type Change, tenant } from '@tidemark/core'
import { createTestDatabase } from '@tidemark/local-postgres/testing'
import type { Transaction } from 'kysely'
import pg from 'pg'
import { brokenReader, type Flaw } from '../../src/torture/broken-readers.ts'
import { type PageReader, productionReader } from '../../src/torture/readers.ts'
import { dropOwner, installSchema, openSide, ownerRole, type Side } from '../../src/torture/schema.ts'
import type { TortureDatabase } from '../../src/torture/tables.ts'

/*
 * Exact interleavings: each step of a schedule is one message on a connection of its own and has returned before the next one is sent. Readers follow tenant
 * "east" from the moment a schedule begins.
 */

const east: Audience = tenant('east')

/** More than any schedule writes. */
export const ANY_LIMIT = 100

/** SQL that inserts one row, or all of a range by one statement, for the tenant that is read. */
export const insert = (first: number, last: number = first): string =>
  `insert into items (id, tenant_id) select id, 'east' from generate_series(${first}, ${last}) id;`

/** One chain of cursors. */
export class Chain {
  readonly #side: Side
  readonly #read: PageReader
  #since = 'now'
  readonly changes: Change[] = []

  constructor(side: Side, read: PageReader) {
    this.#side = side
    this.#read = read
  }

  /** Keys in order of delivery. */
  get keys(): (string | null)[] {
    return this.changes.map(({ key }) => key)
  }

  /** Reads a page and returns whether there is more. */
  async page(limit: number, transaction?: Transaction<TortureDatabase>): Promise<boolean> {
    const request = { since: this.#since, limit, ...(transaction === undefined ? {} : { transaction }) }
    const answer = await this.#read(this.#side, east, request)
    if (!('changes' in answer)) throw new Error(`no page: ${JSON.stringify(answer)}`)
    this.changes.push(...answer.changes)
    this.#since = answer.cursor
    return answer.hasMore
  }

  async toEnd(limit: number): Promise<void> {
    while (await this.page(limit));
  }
}

/** A database with the tables of the torture and three connections to write with. */
export class Schedules implements AsyncDisposable {
  readonly side: Side
  readonly writers: readonly [pg.Client, pg.Client, pg.Client]
  readonly #drop: () => Promise<void>

  private constructor(side: Side, writers: readonly [pg.Client, pg.Client, pg.Client], drop: () => Promise<void>) {
    this.side = side
    this.writers = writers
    this.#drop = drop
  }

  static async open(): Promise<Schedules> {
    const database = await createTestDatabase()
    const side = openSide(database.url, { max: 3 })
    const owner = ownerRole(database.url)
    await installSchema(side, owner)
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: database.url })
      client.on('error', () => {})
      await client.connect()
      return client
    }
    return new Schedules(side, [await connect(), await connect(), await connect()], async () => {
      await dropOwner(side, owner)
      await side.db.destroy()
      await database.drop()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.writers.map((client) => client.end()))
    await this.#drop()
  }

  /** Chains at the head: the library's reader, one with a flaw, and the same without it. */
  async chains(flaw: Flaw): Promise<{ library: Chain; broken: Chain; mended: Chain; all: readonly Chain[] }> {
    const [library, broken, mended] = [
      new Chain(this.side, productionReader),
      new Chain(this.side, brokenReader(flaw)),
      new Chain(this.side, brokenReader('none')),
    ]
    const all = [library, broken, mended]
    for (const chain of all) await chain.page(ANY_LIMIT)
    return { library, broken, mended, all }
  }
}
