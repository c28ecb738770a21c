import { beforeEach, describe, expect, it, vi } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

const tables = { cities: { tenant: null, key: 'id' }, tasks: { tenant: 'tenant_id', key: 'id' } } as const
const ddl =
  'create table tasks (id int primary key, tenant_id text not null, v int); create table cities (id int primary key)'

const bed = bedFrom(openPostgres)
beforeEach(() => bed().reset())

const triggers = async (): Promise<unknown> =>
  (
    await bed().sql(`select distinct tgrelid::regclass::text as name from pg_trigger where not tgisinternal order by 1`)
  ).map(({ name }) => name)
/** Waits until some session waits for a lock, in a transaction that began after `since`; gives when it began. */
const someoneWaits = (since = '-infinity'): Promise<string> =>
  vi.waitFor(
    async () => {
      const [waiting] = await bed().sql(
        `select xact_start::text as since from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and xact_start > '${since}'`,
      )
      if (waiting === undefined) throw new Error('nobody waits')
      return String(waiting['since'])
    },
    { timeout: 10_000, interval: 5 },
  )

describe('an up-to-date database', () => {
  it('is only looked at: migrate() takes no lock that anyone could hold, and writes nothing', async () => {
    await capture(bed(), ddl, tables)
    await using holder = await bed().session({
      setup: `begin; lock table tasks, cities, ${quoted(bed().feedSchema)}.tracked, ${quoted(bed().feedSchema)}.migration in row exclusive mode; select pg_advisory_xact_lock(hashtextextended('tidemark:${bed().feedSchema}', 0)); lock table tasks, cities in access exclusive mode`,
    })
    // A single write, or a single wait, would fail at once.
    await using looking = bed().connect({ settings: '-c default_transaction_read_only=on -c lock_timeout=1ms' })
    const feed = feedOn(bed(), tables, { db: looking.db })
    expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
    expect(await feed.verify()).toEqual([])
    await holder.sql('rollback')
  })
})

describe('a table whose lock is not granted', () => {
  it('fails with LockTimeoutError and is left as it was; what came before it is installed', async () => {
    await bed().sql(ddl)
    const feed = feedOn(bed(), tables)
    await using writer = await bed().session({ setup: `begin; insert into tasks values (1, 'acme')` })
    await expect(feed.migrate({ lockTimeoutMs: 10, lockAttempts: 2 })).rejects.toMatchObject({
      code: 'lockTimeout',
      category: 'availability',
      retryable: true,
      table: 'tasks',
    })
    expect(await triggers()).toEqual(['cities'])
    expect(await bed().sql(`select name from ${quoted(bed().feedSchema)}.tracked`)).toEqual([{ name: 'cities' }])
    expect(await bed().sql(`select 1 from pg_proc where proname ~ '^c2_'`)).toEqual([])
    await writer.sql('commit')
    expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
    expect(await changesOf(bed(), feed, `insert into tasks values (2, 'acme')`)).toEqual(['create tasks 2 @acme'])
  })

  it('is tried again, so that a writer who ends in time is waited for, and readers are not held up', async () => {
    await bed().sql(ddl)
    const feed = feedOn(bed(), tables)
    await using writer = await bed().session({ setup: `begin; insert into tasks values (1, 'acme')` })
    const migrating = feed.migrate({ lockTimeoutMs: 20, lockAttempts: 1000 })
    const firstAttempt = await someoneWaits()
    expect(await bed().sql('select count(*)::int as n from tasks')).toEqual([{ n: 0 }])
    await someoneWaits(firstAttempt)
    await writer.sql('commit')
    expect(await migrating).toEqual({ migrations: [1, 2], installed: ['cities', 'tasks'] })
  })

  it('may be untracked later: untrack() fails with LockTimeoutError and removes nothing', async () => {
    const feed = await capture(bed(), ddl, tables)
    await using writer = await bed().session({ setup: `begin; insert into tasks values (1, 'acme')` })
    await expect(untrack(feed, 'tasks', { lockTimeoutMs: 10, lockAttempts: 2 })).rejects.toMatchObject({
      code: 'lockTimeout',
      table: 'tasks',
    })
    expect(await feed.verify()).toEqual([])
    await writer.sql('commit')
    await untrack(feed, 'tasks')
    expect(await triggers()).toEqual(['cities'])
  })
})

describe('what needs no table lock', () => {
  let feed: AnyFeed
  beforeEach(async () => {
    feed = await capture(bed(), ddl, tables)
  })

  it('replaces functions while a writer is open', async () => {
    const body = `create or replace function ${quoted(bed().feedSchema)}.c2_u() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`
    await bed().sql(`${body}; update ${quoted(bed().feedSchema)}.tracked set capture_version = 0`)
    await using writer = await bed().session({ setup: `begin; insert into tasks values (1, 'acme')` })
    expect(await feed.migrate({ lockTimeoutMs: 1, lockAttempts: 1 })).toEqual({ migrations: [], installed: ['tasks'] })
    // The open transaction goes on with the new function.
    expect(await changesBy(feed, () => writer.sql(`update tasks set v = 1; commit`))).toEqual([
      'create tasks 1 @acme',
      'update tasks 1 @acme',
    ])
  })

  it('changes a declaration only when no open writer can append in the old form after the announcement', async () => {
    await using writer = await bed().session({ setup: `begin; insert into tasks values (1, 'acme')` })
    const scoped = feedOn(bed(), { ...tables, tasks: { ...tables.tasks, scopes: ['v'] } })
    await expect(scoped.migrate({ lockTimeoutMs: 1, lockAttempts: 1 })).rejects.toMatchObject({
      code: 'lockTimeout',
      table: 'tasks',
    })
    await writer.sql(`update tasks set v = 1; commit`)
    expect(await scoped.migrate({ lockAttempts: 1 })).toEqual({ migrations: [], installed: ['tasks'] })
    await writer.sql(`update tasks set v = 2`)
    const rows = await bed().sql(
      `select op::text, scopes::text from ${quoted(bed().feedSchema)}.log where tbl = (select number from ${quoted(bed().feedSchema)}.tracked where name = 'tasks') order by id`,
    )
    expect(rows.slice(1)).toEqual([
      { op: 'c', scopes: null },
      { op: 'u', scopes: null },
      { op: 'i', scopes: null },
      { op: 'd', scopes: '{1}' },
      { op: 'c', scopes: '{2}' },
    ])
  })
})

it('two processes that install at once go one after the other', async () => {
  await bed().sql(ddl)
  await using holder = await bed().session({
    setup: `begin; select pg_advisory_xact_lock(hashtextextended('tidemark:${bed().feedSchema}', 0))`,
  })
  const feed = feedOn(bed(), tables)
  const migrating = feed.migrate()
  await someoneWaits()
  expect(await bed().sql(`select to_regnamespace('${quoted(bed().feedSchema)}') is null as nothing`)).toEqual([
    { nothing: true },
  ])
  await holder.sql('commit')
  expect(await migrating).toEqual({ migrations: [1, 2], installed: ['cities', 'tasks'] })
})

it('writers never take the installation lock', async () => {
  const feed = await capture(bed(), ddl, tables)
  await using holder = await bed().session({
    setup: `begin; select pg_advisory_xact_lock(hashtextextended('tidemark:${bed().feedSchema}', 0))`,
  })
  await using writer = await bed().session({ setup: `set lock_timeout = '1ms'` })
  expect(
    await changesBy(feed, () =>
      writer.sql(`insert into tasks values (1, 'acme'); update tasks set v = 1; delete from tasks`),
    ),
  ).toHaveLength(3)
  await holder.sql('commit')
})
