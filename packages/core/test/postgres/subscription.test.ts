import { createTestDatabase, type LocalPostgres, startLocalPostgres, type TestDatabase } from '@tidemark/local-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, type AnyTables, feedOn, type Row } from '../support/bed.ts'
import { changesBy, changesSince, now } from '../support/changes.ts'
import { announced, mended, quiet, startUp } from '../support/start-up.ts'

// Real logical replication, from one database of a server into another: what its worker writes fires row triggers only, and only those ENABLE ALWAYS.

interface Side {
  readonly url: string
  readonly db: Kysely<AnyTables>
  readonly sql: (text: string) => Promise<Row[]>
  readonly feedSchema: string
  readonly level: 'statement'
}

const tables = {
  t: { tenant: 'tenant', key: 'id' },
  p: { tenant: 'tenant', key: ['id', 'region'] },
} as const
const columns = 'id int, region text not null, tenant text not null, v text'

let server: LocalPostgres
const databases: TestDatabase[] = []
let source: Side
let target: Side
let feed: AnyFeed

beforeAll(async () => {
  const wanted = process.env['TIDEMARK_TEST_PG'] || 'embedded'
  server = await startLocalPostgres({
    version: wanted === 'embedded' ? wanted : (Number(wanted) as 15),
    settings: {
      fsync: 'off',
      wal_level: 'logical',
      wal_retrieve_retry_interval: '20ms',
      max_logical_replication_workers: '8',
    },
  })
  source = await openSide()
  target = await openSide()
  await source.sql(
    `create table t (id int primary key, tenant text not null, v text); create table p (${columns}, primary key (id, region)); create table u (id int primary key, tenant text not null);
     insert into t values (1, 'acme'), (2, 'bolt'); insert into p values (1, 'a', 'acme'), (1, 'b', 'acme'); insert into u values (1, 'acme');
     create publication changes for table t, p`,
  )
  await source.sql(`select pg_create_logical_replication_slot('stream', 'pgoutput')`)
  await target.sql(
    `create table t (id int primary key, tenant text not null, v text); create table p (${columns}, primary key (id, region)) partition by list (region);
     create table pa partition of p for values in ('a'); create table pb partition of p for values in ('b'); create table u (id int primary key, tenant text not null)`,
  )
  feed = feedOn(target, tables)
})
afterAll(async () => {
  await target?.sql('drop subscription if exists upstream')
  for (const side of [source, target]) await side?.db.destroy()
  for (const database of databases) await database.drop()
  await server?.stop()
})

async function openSide(): Promise<Side> {
  const database = await createTestDatabase(server.url)
  databases.push(database)
  const pool = new pg.Pool({ connectionString: database.url, max: 3 })
  pool.on('error', () => {})
  const db = new Kysely<AnyTables>({ dialect: new PostgresDialect({ pool }) })
  const sql = async (text: string): Promise<Row[]> => {
    const result = (await pool.query<Row>(text)) as pg.QueryResult<Row> | pg.QueryResult<Row>[]
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
  }
  return { url: database.url, db, sql, feedSchema: 'tidemark', level: 'statement' }
}

/** The changes after `since`, once there are as many as expected. */
async function arrive(since: string, expected: readonly string[]): Promise<void> {
  const told = await vi.waitFor(
    async () => {
      const found = await changesSince(feed, since)
      if (found.length < expected.length) throw new Error(`so far ${JSON.stringify(found)}`)
      return found
    },
    { timeout: 20_000, interval: 20 },
  )
  expect(told.toSorted()).toEqual(expected.toSorted())
}

/** Waits until the initial copy of a table is done. */
const copied = (table: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const [ready] = await target.sql(
        `select from pg_subscription_rel where srrelid = '${table}'::regclass and srsubstate = 'r'`,
      )
      if (ready === undefined) throw new Error('not yet')
    },
    { timeout: 20_000, interval: 20 },
  )

const levelOf = async (table: string): Promise<unknown> =>
  (
    await target.sql(
      `select distinct tgtype & 1 as row, tgenabled::text from pg_trigger where tgrelid = '${table}'::regclass and tgname ~ '^!tidemark_[cud]$'`,
    )
  ).map(({ row, tgenabled }) => `${row === 1 ? 'row' : 'statement'} ${String(tgenabled)}`)

it('a subscribed table is captured by row triggers that fire always: the initial copy, and what is streamed', async () => {
  const { hostname, port, username, password, pathname } = new URL(source.url)
  await target.sql(
    `create subscription upstream connection 'host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}' publication changes with (create_slot = false, slot_name = 'stream', enabled = false)`,
  )
  await feed.migrate()
  expect(await levelOf('t')).toEqual(['row A'])
  const start = await now(feed)
  await target.sql('alter subscription upstream enable')
  await arrive(start, ['create t 1 @acme', 'create t 2 @bolt', 'create p ["1","a"] @acme', 'create p ["1","b"] @acme'])
  await copied('t')
  await copied('p')

  const since = await now(feed)
  await source.sql(
    `insert into t values (3, 'acme'); update t set v = 'x' where id = 3; update t set id = 4, tenant = 'bolt' where id = 3; delete from t where id < 3;
     update p set region = 'b', id = 2 where region = 'a'; delete from p where id = 1; update t set v = v`,
  )
  await arrive(since, [
    'create t 3 @acme',
    'update t 3 @acme',
    'delete t 3 @acme',
    'create t 4 @bolt',
    'delete t 1 @acme',
    'delete t 2 @bolt',
    'delete p ["1","a"] @acme',
    'create p ["2","b"] @acme',
    'delete p ["1","b"] @acme',
  ])

  const truncating = await now(feed)
  await source.sql('truncate t')
  await arrive(truncating, ['invalidate t *'])
  expect(await startUp(target, feed)).toEqual(quiet)
  // What the app itself writes to such a table is captured like any other.
  expect(await changesBy(feed, () => target.sql(`insert into t values (9, 'acme'), (10, 'acme')`))).toEqual([
    'create t 9 @acme',
    'create t 10 @acme',
  ])
})

it('a table that is subscribed after it was tracked was filled unseen: found, announced, and captured from then on', async () => {
  const wider = feedOn(target, { ...tables, u: tables.t })
  await wider.migrate()
  expect(await levelOf('u')).toEqual(['statement A'])
  await source.sql('alter publication changes add table u')
  await target.sql('alter subscription upstream refresh publication')
  await copied('u')
  expect(await target.sql('select id from u')).toEqual([{ id: 1 }])
  feed = wider
  expect(await startUp(target, wider)).toEqual(announced('u', 'level', 'because a logical subscription fills it'))
  expect(await levelOf('u')).toEqual(['row A'])
  const since = await now(wider)
  await source.sql(`insert into u values (2, 'acme')`)
  await arrive(since, ['create u 2 @acme'])
})

it('statement triggers are refused there, where they are declared', async () => {
  const vouched = feedOn(target, { t: { ...tables.t, capture: 'statement' } })
  await expect(vouched.migrate()).rejects.toMatchObject({
    code: 'unsupportedTable',
    table: 't',
    message: expect.stringContaining('a logical subscription fills it'),
  })
  expect(await levelOf('t')).toEqual(['row A'])
})

it('without the subscription statement triggers do again, and nobody is told', async () => {
  await target.sql('drop subscription upstream')
  expect(await levelOf('t')).toEqual(['row A'])
  const ordinary = feedOn(target, { t: tables.t })
  expect(await startUp(target, ordinary)).toEqual(mended('t', 'level', 'no longer needs row triggers'))
  expect(await levelOf('t')).toEqual(['statement A'])
  await untrack(ordinary, 't')
  expect(await levelOf('t')).toEqual([])
})
