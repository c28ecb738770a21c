import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import {
  type Audience,
  type Change,
  type ChangesPage,
  createFeed,
  type Feed,
  readChanges,
  type ReadResult,
} from '../../src/index.ts'

export interface DB {
  item: { id: number; tenant_id: string; label: string }
  note: { id: number; tenant_id: string; body: string }
  city: { id: number; name: string }
}

const tables = {
  item: { tenant: 'tenant_id', key: 'id' },
  note: { tenant: 'tenant_id', key: 'id' },
  city: { tenant: null, key: 'id' },
} as const

export type ReadFeed = Feed<DB, typeof tables>

/** A database of its own with three captured tables. */
export async function openReadFeed(): Promise<{
  readonly url: string
  readonly db: Kysely<DB>
  readonly feed: ReadFeed
  /** A second feed object over a pool of its own, as another process would have. */
  readonly another: () => { readonly db: Kysely<DB>; readonly feed: ReadFeed }
  readonly run: (text: string) => Promise<unknown>
  readonly session: () => Promise<Session>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}> {
  const database = await createTestDatabase()
  const opened: Kysely<DB>[] = []
  const sessions: pg.Client[] = []
  const another = () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 5 })
    pool.on('error', () => {})
    const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
    opened.push(db)
    return { db, feed: createFeed({ db, tables }) }
  }
  const { db, feed } = another()
  const run = (text: string) => sql.raw(text).execute(db)
  await run('create table item (id int primary key, tenant_id text not null, label text not null default $$$$)')
  await run('create table note (id int primary key, tenant_id text not null, body text not null default $$$$)')
  await run('create table city (id int primary key, name text not null default $$$$)')
  await feed.migrate()
  return {
    url: database.url,
    db,
    feed,
    another,
    run,
    session: async () => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      sessions.push(client)
      return (text) => client.query(text)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(sessions.map((client) => client.end()))
      await Promise.all(opened.map((one) => one.destroy()))
      await database.drop()
    },
  }
}

/** A connection of its own that runs one statement after the other: a writer whose steps the test orders. */
export type Session = (text: string) => Promise<pg.QueryResult>

/** The page of an answer, or a failure that shows what came instead. */
export function page<T extends string>(answer: ReadResult<T>): ChangesPage<T> {
  if ('changes' in answer) return answer
  throw new Error(`expected a page, got ${JSON.stringify(answer)}`)
}

/** Reads from `since` until nothing more is ready. */
export async function readAll(
  feed: ReadFeed,
  audience: Audience,
  since: string,
  limit = 500,
  tables_?: readonly ('item' | 'note' | 'city')[],
): Promise<{ readonly changes: Change[]; readonly cursor: string; readonly pages: number }> {
  const changes: Change[] = []
  let cursor = since
  for (let pages = 1; ; pages++) {
    const got = page(await readChanges(feed, audience, { since: cursor, limit, ...(tables_ && { tables: tables_ }) }))
    changes.push(...got.changes)
    cursor = got.cursor
    if (!got.hasMore) return { changes, cursor, pages }
  }
}

/** Short form of changes for comparisons: `table key operation`. */
export function brief(changes: readonly Change[]): string[] {
  return changes.map((c) => `${c.table} ${c.key ?? '*'} ${c.operation}`)
}
