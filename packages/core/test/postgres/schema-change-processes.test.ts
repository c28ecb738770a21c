import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { type Connected, openPostgres } from '../support/postgres-bed.ts'
import { type TestRole, withRole } from '../support/roles.ts'
import { announced, quiet, startUp } from '../support/start-up.ts'

// Schema changes as processes meet them that run under another search_path, own nothing, or start beside open transactions.

const tables = {
  'app.t': { tenant: 'tenant', key: 'id', scopes: ['m'], capture: 'row' },
  'app.p': { tenant: 'tenant', key: ['id', 'region'] },
  'app.s': { tenant: 'tenant', key: 'id' },
} as const
const ddl = `create type mood as enum ('sad', 'glad'); create domain small as int check (value > 0);
  create table t (id int primary key, tenant text not null, m mood, s small, g text generated always as (tenant || '!') stored, v text collate "C", c char(3));
  create table p (id int, region mood, tenant text not null, v text, primary key (id, region)) partition by list (region); create table p1 partition of p for values in ('sad'); create table p2 partition of p default;
  create table s (id small primary key, tenant text not null, m mood, v text, w numeric(10, 2)); create function f() returns trigger language plpgsql as 'begin return null; end';
  alter table p enable row level security; alter table t enable row level security`

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  await bed().sql(ddl)
  feed = feedOn(bed(), tables)
  await feed.migrate()
})

describe.each([
  ['other, app', 'other,app'],
  ['app', 'app'],
  ['nothing', ''],
  ['other, before pg_catalog', 'other,pg_catalog'],
  ['the feed itself', 'tidemark,app'],
])('under the search_path of %s', (_, path) => {
  it('a process finds what one under another path left, and the other way round', async () => {
    // Twins of everything that is named.
    await bed().sql(
      `drop schema if exists other cascade; create schema other; set search_path = other; create type mood as enum ('x'); create domain small as text; create table t (id text); create table p (id text); create table s (id text); set search_path = app, public`,
    )
    try {
      await using elsewhere = bed().connect({ settings: `-c search_path=${path}` })
      const there = feedOn(bed(), tables, { db: elsewhere.db })
      expect(await there.verify()).toEqual([])
      expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
      await bed().sql(`alter type app.mood rename value 'sad' to 'blue'`)
      expect(await startUp(bed(), there)).toMatchObject({ installed: ['app.t', 'app.p', 'app.s'] })
      expect(await startUp(bed(), feed)).toEqual(quiet)
      await bed().sql(
        `alter table app.t add w text; drop trigger "!tidemark_d" on app.p; create trigger app after insert on app.s for each row execute function app.f()`,
      )
      expect(await there.migrate()).toEqual({ migrations: [], installed: ['app.p', 'app.s'] })
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into app.p values (1, 'blue', 'acme')`,
          `update app.p set region = 'glad'`,
        ),
      ).toEqual([
        'create app.p ["1","blue"] @acme',
        'delete app.p ["1","blue"] @acme',
        'create app.p ["1","glad"] @acme',
      ])
    } finally {
      await bed().sql('drop schema other cascade')
    }
  })
})

describe('a process that owns nothing', () => {
  let captureRole: string
  beforeEach(async () => {
    await bed().reset()
    await bed().sql(ddl)
    captureRole = `tidemark_test_${randomBytes(4).toString('hex')}_capture`
    feed = feedOn(bed(), tables, { captureRole })
  })
  const as = (role: TestRole): Connected => {
    const url = new URL(bed().url)
    url.username = role.name
    url.password = role.password
    return bed().connect({ url: url.href })
  }
  const withServer = async (rights: Record<string, string>, work: (there: AnyFeed) => Promise<void>): Promise<void> => {
    await using role = await withRole(bed(), rights)
    await feed.migrate({ grantTo: [role.name] })
    await using server = as(role)
    try {
      await work(feedOn(bed(), tables, { captureRole, db: server.db }))
    } finally {
      await bed().reset()
      await bed().sql(`drop owned by ${captureRole}; drop role ${captureRole}`)
    }
  }

  it('starts up after a change that harms nothing; what it may not note is left to one that may', async () => {
    await withServer({ app: 'usage' }, async (there) => {
      await bed().sql('alter table t add w text; alter table s drop v; alter table p add w int')
      expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await there.verify()).toEqual([])
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
    })
  })

  it('is refused where rows changed unseen, and told who must announce it', async () => {
    await withServer({ app: 'usage' }, async (there) => {
      await bed().sql('alter table s add x int default 7')
      await expect(there.migrate()).rejects.toMatchObject({
        code: 'insufficientRights',
        message: expect.stringContaining('"app.s"'),
      })
      expect(await there.verify()).toMatchObject([{ code: 'rowsChanged', table: 'app.s', unseen: true }])
      expect(await startUp(bed(), feed)).toEqual(announced('app.s', 'rowsChanged', '"x"'))
      expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
    })
  })

  it('that cannot look into a new partition takes it for one that came with rows, and says so', async () => {
    for (const rights of [{ app: 'usage' }, { p: 'select' }] as Record<string, string>[]) {
      await bed().reset()
      await bed().sql(ddl)
      await withServer(rights, async (there) => {
        await bed().sql(
          `create table p3 (like p); alter table p attach partition p3 for values in ('glad'); grant select on p3 to public`,
        )
        const [found] = await there.verify()
        expect(found).toMatchObject({ table: 'app.p' })
        await expect(there.migrate()).rejects.toMatchObject({
          code: 'insufficientRights',
          message: expect.stringContaining('"app.p"'),
        })
        expect(await startUp(bed(), feed)).toMatchObject({ findings: [{ code: 'trigger', unseen: false }], told: [] })
        expect(await there.verify()).toEqual([])
        expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
      })
    }
  })
})

describe('beside open transactions', () => {
  it.each([
    ['a reader', 'select * from t, s, p'],
    [
      'a writer',
      `insert into t (id, tenant) values (1, 'acme'); insert into s (id, tenant) values (1, 'acme'); insert into p values (1, 'sad', 'acme')`,
    ],
  ])('a change that harms nothing is noted beside %s: no lock is waited for', async (_, open) => {
    await bed().sql('alter table t add w text; alter table s drop v; alter table p add w int')
    await using _other = await bed().session({ setup: `begin; ${open}` })
    expect(await feed.migrate({ lockTimeoutMs: 1, lockAttempts: 1 })).toEqual({ migrations: [], installed: [] })
    const [noted] = await bed().sql(
      `select count(*)::int as n from ${quoted(bed().feedSchema)}.tracked where layout::text like '%"w"%'`,
    )
    expect(noted).toEqual({ n: 3 })
  })

  it('rows that changed unseen are announced beside readers, and after the writers', async () => {
    await bed().sql('alter table s add x int default 7')
    await using reader = await bed().session({ setup: 'begin; select * from t, s, p' })
    await using writer = await bed().session({ setup: `begin; insert into s (id, tenant) values (1, 'acme')` })
    await expect(feed.migrate({ lockTimeoutMs: 1, lockAttempts: 1 })).rejects.toMatchObject({
      code: 'lockTimeout',
      table: 'app.s',
    })
    await writer.sql('commit')
    expect(await feed.migrate({ lockTimeoutMs: 1, lockAttempts: 1 })).toEqual({ migrations: [], installed: ['app.s'] })
    await reader.sql('rollback')
  })
})
