import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type InsufficientRightsError, notify, readChanges, tenant, untrack } from '../../src/index.ts'
import { type AnyFeed, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { type Connected, openPostgres } from '../support/postgres-bed.ts'
import { type TestRole, withRole } from '../support/roles.ts'

// Logins with the rights that a hosting provider's application role has, and fewer.

const tables = { tasks: { tenant: 'tenant_id', key: 'id' } } as const
const ddl = 'create table app.tasks (id int primary key, tenant_id text not null, v int)'

const bed = bedFrom(openPostgres)
let captureRole: string
beforeEach(async () => {
  await bed().reset()
  // Roles belong to the whole server, where other databases have a "tidemark_capture" that is not ours.
  captureRole = `tidemark_test_${randomBytes(4).toString('hex')}_capture`
})

/** Connects as the role. */
function as(role: TestRole): Connected {
  const url = new URL(bed().url)
  url.username = role.name
  url.password = role.password
  return bed().connect({ url: url.href })
}

async function dropCaptureRole(): Promise<void> {
  await bed().sql(
    `drop schema if exists ${quoted(bed().feedSchema)} cascade; drop schema if exists app cascade; create schema app`,
  )
  const [there] = await bed().sql(`select 1 from pg_roles where rolname = '${captureRole}'`)
  if (there !== undefined) await bed().sql(`drop owned by ${captureRole}; drop role ${captureRole}`)
}

async function refusal(work: Promise<unknown>): Promise<InsufficientRightsError> {
  const error: unknown = await work.then(
    () => new Error('it was allowed'),
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ code: 'insufficientRights', category: 'configuration' })
  return error as InsufficientRightsError
}

const nothingInstalled = async (): Promise<void> => {
  expect(await bed().sql(`select to_regnamespace('${bed().feedSchema}') is null as nothing`)).toEqual([
    { nothing: true },
  ])
  expect(await bed().sql(`select 1 from pg_roles where rolname = '${captureRole}'`)).toEqual([])
}

describe('a role without DDL rights', () => {
  let superFeed: AnyFeed
  beforeEach(async () => {
    await bed().sql(ddl)
    superFeed = feedOn(bed(), tables, { captureRole })
  })

  it('granted by migrate({ grantTo }) reads, appends and starts up on an up-to-date database, and can do no more', async () => {
    await using role = await withRole(bed(), { app: 'usage', tasks: 'select, insert, update, delete' })
    await superFeed.migrate({ grantTo: [role.name] })
    await using server = as(role)
    const feed = feedOn(bed(), tables, { captureRole, db: server.db })
    expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
    expect(await feed.verify()).toEqual([])
    expect(await feed.migrate({ grantTo: [role.name] })).toEqual({ migrations: [], installed: [] })
    expect(
      await changesOf(
        { ...bed(), sql: async (text) => (await server.pool.query(text)).rows as never },
        feed,
        `insert into tasks values (1, 'acme')`,
      ),
    ).toEqual(['create tasks 1 @acme'])
    await server.db
      .transaction()
      .execute((trx) => notify(feed, trx, tenant('acme'), { entries: [{ table: 'tasks', keys: ['1'] }], reason: 'r' }))
    expect(await readChanges(feed, tenant('acme'), { since: 'start' })).toMatchObject({
      changes: [{ operation: 'invalidate' }, { operation: 'create' }, { operation: 'update' }],
    })
    for (const forbidden of [
      'delete from tidemark.log',
      'update tidemark.log set n = 1',
      'truncate tidemark.log',
      "insert into tidemark.state values (true, 'x')",
      "update tidemark.state set epoch = 'x'",
      'delete from tidemark.tracked',
      'insert into tidemark.floor values (null, 1, 1)',
      'delete from tidemark.migration',
      'create table tidemark.mine ()',
      'drop table tidemark.log',
    ]) {
      await expect(server.pool.query(forbidden), forbidden).rejects.toMatchObject({ code: '42501' })
    }
    await dropCaptureRole()
  })

  it('is told what is missing when the database is not up to date, and nothing changes', async () => {
    await using role = await withRole(bed(), { app: 'usage', tasks: 'select, insert' })
    await superFeed.migrate({ grantTo: [role.name] })
    await bed().sql('create table app.notes (id int primary key, tenant_id text not null)')
    await using server = as(role)
    const wider = feedOn(bed(), { ...tables, notes: tables.tasks }, { captureRole, db: server.db })
    const error = await refusal(wider.migrate())
    expect(error.message).toContain('"notes"')
    expect(error.steps.join(' ')).toContain('notes')
    expect(await superFeed.verify()).toEqual([])
    expect(await bed().sql(`select name from tidemark.tracked`)).toEqual([{ name: 'tasks' }])
    await refusal(untrack(feedOn(bed(), tables, { captureRole, db: server.db }), 'tasks'))
    expect(await superFeed.verify()).toEqual([])
    await dropCaptureRole()
  })

  it('is told so on a database where nothing is installed', async () => {
    await using role = await withRole(bed(), { app: 'usage', tasks: 'all' })
    await using server = as(role)
    const error = await refusal(feedOn(bed(), tables, { captureRole, db: server.db }).migrate())
    expect(error.steps.length).toBeGreaterThan(0)
    await nothingInstalled()
  })

  it('that was granted nothing on the feed is told so by every call', async () => {
    await superFeed.migrate()
    await using role = await withRole(bed(), { app: 'usage', tasks: 'select' })
    await using server = as(role)
    const feed = feedOn(bed(), tables, { captureRole, db: server.db })
    for (const work of [
      () => feed.migrate(),
      () => feed.verify(),
      () => readChanges(feed, tenant('acme'), { since: 'start' }),
    ]) {
      const error = await refusal(work())
      expect(error.message + error.steps.join(' ')).toContain('grantTo')
    }
    await dropCaptureRole()
  })

  it('grantTo names a role that does not exist: refused by field', async () => {
    await expect(superFeed.migrate({ grantTo: ['tidemark nobody'] })).rejects.toMatchObject({
      code: 'invalidInput',
      field: 'grantTo',
      message: expect.stringContaining('tidemark nobody'),
    })
    await dropCaptureRole()
  })
})

describe('an installer that is no superuser', () => {
  const grantDatabase = (role: TestRole): string =>
    `grant create on database ${quoted(new URL(bed().url).pathname.slice(1))} to ${role.name}`

  it('with CREATE on the database and CREATEROLE installs, mends and untracks', async () => {
    await using role = await withRole(bed(), { app: 'all' }, 'createrole')
    await bed().sql(grantDatabase(role))
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
    const mine = { ...bed(), sql: async (text: string) => (await own.pool.query(text)).rows as never }
    expect(
      await changesOf(
        mine,
        feed,
        `insert into tasks values (1, 'acme')`,
        `update tasks set v = 1`,
        'delete from tasks',
      ),
    ).toEqual(['create tasks 1 @acme', 'update tasks 1 @acme', 'delete tasks 1 @acme'])
    await own.pool.query('alter table tasks enable trigger all')
    await own.pool.query(
      `create or replace function tidemark.c1_u() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
    )
    expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
    expect(await changesOf(mine, feed, `insert into tasks values (1, 'acme')`)).toEqual(['create tasks 1 @acme'])
    await using plain = await withRole(bed())
    await feed.migrate({ grantTo: [plain.name] })
    await untrack(feed, 'tasks')
    expect(await bed().sql(`select 1 from pg_proc where proname like 'c1_%'`)).toEqual([])
    await dropCaptureRole()
  })

  it('the capture role that it made is no superuser and cannot log in, and is reused by the next installation', async () => {
    await using role = await withRole(bed(), { app: 'all' }, 'createrole')
    await bed().sql(grantDatabase(role))
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    await feed.migrate()
    expect(
      await bed().sql(`select rolcanlogin, rolsuper, rolcreaterole from pg_roles where rolname = '${captureRole}'`),
    ).toEqual([{ rolcanlogin: false, rolsuper: false, rolcreaterole: false }])
    await own.pool.query(`drop schema tidemark cascade`)
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    await dropCaptureRole()
  })

  it('without CREATEROLE is given steps; done by an administrator, they are enough', async () => {
    await using role = await withRole(bed(), { app: 'all' })
    await bed().sql(grantDatabase(role))
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    const { steps } = await refusal(feed.migrate())
    await nothingInstalled()
    for (const step of steps) await bed().sql(step)
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    expect(await feed.verify()).toEqual([])
    await dropCaptureRole()
  })

  it('without any right is given steps; done by an administrator, they are enough', async () => {
    await using role = await withRole(bed(), { app: 'all' })
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    // First the capture role is missing, then the right to make the schema.
    for (let round = 1; round <= 2; round++) {
      for (const step of (await refusal(feed.migrate())).steps) await bed().sql(step)
      expect(await bed().sql(`select to_regnamespace('tidemark') is null as nothing`)).toEqual([{ nothing: true }])
    }
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    expect(await feed.verify()).toEqual([])
    await dropCaptureRole()
  })

  it("is given steps when the schema, or the capture role, is somebody else's", async () => {
    await using role = await withRole(bed(), { app: 'all' }, 'createrole')
    await bed().sql(`${grantDatabase(role)}; create schema tidemark; create role ${captureRole} nologin`)
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    let rounds = 0
    // On 15 CREATEROLE may grant every role: one round less.
    for (
      ;
      (await bed().sql(`select 1 from pg_class where relname = 'tracked' and relnamespace = 'tidemark'::regnamespace`))
        .length === 0;
      rounds++
    ) {
      if (rounds === (bed().major >= 16 ? 2 : 1)) break
      for (const step of (await refusal(feed.migrate())).steps) await bed().sql(step)
    }
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    await dropCaptureRole()
  })

  it('needs no CREATE on the database when the schema was made for it', async () => {
    await using role = await withRole(bed(), { app: 'all' })
    await bed().sql(
      `create role ${captureRole} nologin; grant ${captureRole} to ${role.name}; create schema tidemark authorization ${role.name}`,
    )
    await using own = as(role)
    await own.pool.query(ddl)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    expect(await feed.verify()).toEqual([])
    await dropCaptureRole()
  })

  it('may own its tables through a role it is member of, and is refused tables of others by name', async () => {
    await using role = await withRole(bed(), { app: 'all' }, 'createrole')
    await using group = await withRole(bed(), { app: 'all' })
    await bed().sql(
      `${grantDatabase(role)}; grant ${group.name} to ${role.name}; ${ddl}; alter table app.tasks owner to ${group.name}; create table app.foreign_one (id int primary key)`,
    )
    await using own = as(role)
    const feed = feedOn(bed(), tables, { captureRole, db: own.db })
    expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks'] })
    const wider = feedOn(bed(), { ...tables, foreign_one: { tenant: null, key: 'id' } }, { captureRole, db: own.db })
    const error = await refusal(wider.migrate())
    expect(error.message).toContain('"foreign_one"')
    expect(await bed().sql(`select name from tidemark.tracked`)).toEqual([{ name: 'tasks' }])
    await dropCaptureRole()
  })
})
