import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { allTenants, readChanges } from '../../src/index.ts'
import { type Bed, capture, type Declaration, feedOn, quoted } from '../support/bed.ts'
import { catalogueListing } from '../support/catalogue-listing.ts'
import { changesBy, changesOf, changesSince, entriesOf, now } from '../support/changes.ts'

/** What is written down of the objects that the feed makes, by level. */
const golden = {
  statement: fileURLToPath(new URL('../schema/golden.txt', import.meta.url)),
  row: fileURLToPath(new URL('../schema/golden-row.txt', import.meta.url)),
}
const ddl = `create table tasks (id int primary key, tenant_id text not null, project int, team text, v int);
  create table notes (id int, n int, tenant_id text not null, primary key (id, n)); create table cities (id int primary key)`
const declared = {
  tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project'] },
  notes: { tenant: 'tenant_id', key: ['id', 'n'] },
  cities: { tenant: null, key: 'id' },
} as const satisfies Record<string, Declaration>

/** Installing and upgrading the feed's schema and the declarations. */
export function migrations(bed: () => Bed): void {
  const schema = (): string => quoted(bed().feedSchema)
  const reader = allTenants('tests')
  /** Every row the feed has in its own tables and in the database's catalogue, with the transaction that wrote it. */
  const versions = async (): Promise<unknown> =>
    await bed()
      .sql(`select 'tracked' as what, xmin::text, name from ${schema()}.tracked union all select 'state', xmin::text, epoch from ${schema()}.state
      union all select 'migration', xmin::text, number::text from ${schema()}.migration union all select 'log', xmin::text, id::text from ${schema()}.log
      union all select 'class', xmin::text, relname from pg_class where relnamespace in ('${schema()}'::regnamespace, 'app'::regnamespace)
      union all select 'proc', xmin::text, proname from pg_proc where pronamespace = '${schema()}'::regnamespace
      union all select 'trigger', xmin::text, tgname || tgrelid from pg_trigger union all select 'namespace', xmin::text, nspname from pg_namespace
      union all select 'role', xmin::text, rolname from pg_authid where rolname = '${bed().feedSchema}_capture' order by 1, 3`)

  describe('migrate()', () => {
    beforeEach(() => bed().reset())

    it('installs everything on a fresh database, and says so; each table is announced', async () => {
      await bed().sql(ddl)
      const feed = feedOn(bed(), declared)
      expect(await feed.verify()).toEqual([
        {
          code: 'notInstalled',
          table: null,
          problem: expect.stringContaining('is not installed'),
          remedy: 'run feed.migrate()',
          unseen: false,
        },
      ])
      await expect(readChanges(feed, reader, { since: 'start' })).rejects.toMatchObject({ code: 'notMigrated' })
      expect(await feed.migrate()).toEqual({ migrations: [1, 2], installed: ['tasks', 'notes', 'cities'] })
      expect(await feed.verify()).toEqual([])
      expect(await readChanges(feed, reader, { since: 'start' })).toMatchObject({
        changes: ['tasks', 'notes', 'cities'].map((table) => ({
          table,
          operation: 'invalidate',
          key: null,
          tenant: null,
        })),
        upToDate: true,
      })
    })

    it('run again writes nothing', async () => {
      const feed = await capture(bed(), ddl, declared)
      const before = await versions()
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await feedOn(bed(), declared).migrate({ redeclare: ['tasks'] })).toEqual({ migrations: [], installed: [] })
      expect(await feed.verify()).toEqual([])
      expect(await versions()).toEqual(before)
    })

    it('makes exactly the objects that are written down', async () => {
      await capture(bed(), ddl, declared)
      const listing = await catalogueListing(bed())
      if (process.env['TIDEMARK_UPDATE_GOLDEN'] === '1') await writeFile(golden[bed().level], listing)
      expect(
        listing,
        'if this is meant, run the test once with TIDEMARK_UPDATE_GOLDEN=1 and review the difference',
      ).toBe(await readFile(golden[bed().level], 'utf8'))
    })

    it('accepts a schema with a newer, harmless step', async () => {
      const feed = await capture(bed(), ddl, declared)
      await bed().sql(
        `insert into ${schema()}.migration (number, name, breaking) values (99, 'from the future', false)`,
      )
      const again = feedOn(bed(), declared)
      expect(await again.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await again.verify()).toEqual([])
      expect(await changesOf(bed(), feed, 'insert into cities values (1)')).toEqual(['create cities 1'])
    })

    it('refuses a schema with a newer, breaking step, and changes nothing', async () => {
      await capture(bed(), ddl, declared)
      await bed().sql(
        `insert into ${schema()}.migration (number, name, breaking) values (98, 'harmless', false), (99, 'from the future', true), (100, 'harmless', false)`,
      )
      const before = await versions()
      const older = feedOn(bed(), { ...declared, tasks: { ...declared.tasks, scopes: ['team'] } })
      const refusal = { code: 'schemaTooNew', message: expect.stringContaining('breaking migration 99') }
      await expect(older.migrate()).rejects.toMatchObject(refusal)
      await expect(older.verify()).rejects.toMatchObject(refusal)
      await expect(readChanges(older, reader, { since: 'start' })).rejects.toMatchObject(refusal)
      expect(await versions()).toEqual(before)
    })

    it('never touches capture functions of a newer version', async () => {
      const feed = await capture(bed(), ddl, declared)
      await bed().sql(
        `update ${schema()}.tracked set capture_version = 99; create or replace function ${schema()}.c1_u() returns trigger language plpgsql as 'begin return null; end'`,
      )
      const before = await versions()
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await versions()).toEqual(before)
    })

    it('replaces capture functions of an older version, unannounced: they hid nothing', async () => {
      const feed = await capture(bed(), ddl, declared)
      await bed().sql(
        `update ${schema()}.tracked set capture_version = 0 where name = 'tasks'; create or replace function ${schema()}.c1_u() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
      )
      expect(
        await changesBy(feed, async () => {
          expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
        }),
      ).toEqual([])
      await bed().sql(`insert into tasks values (1, 'acme')`)
      expect(await changesOf(bed(), feed, 'update tasks set v = 1')).toEqual(['update tasks 1 @acme'])
    })

    it('accepts that the schema is there already, empty', async () => {
      await bed().sql(`create schema ${schema()}; ${ddl}`)
      expect(await feedOn(bed(), declared).migrate()).toMatchObject({ migrations: [1, 2] })
    })
  })

  describe('an older version of the app beside a newer one', () => {
    beforeEach(() => bed().reset())
    const newer = { ...declared, tasks: { ...declared.tasks, scopes: ['project', 'team'] } } as const

    it('with fewer tables and fewer scopes removes nothing', async () => {
      const feed = await capture(bed(), ddl, newer)
      const before = await versions()
      const older = feedOn(bed(), { tasks: { tenant: 'tenant_id', key: 'id' } })
      expect(await older.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await older.verify()).toEqual([])
      expect(await versions()).toEqual(before)
      expect(await feed.verify()).toEqual([])
      expect(
        await entriesOf(
          bed(),
          `insert into tasks values (1, 'acme', 7, 'a')`,
          `insert into notes values (1, 2, 'acme')`,
        ),
      ).toMatchObject([{ scopes: ['7', 'a'] }, { keys: ['["1","2"]'] }])
    })

    it('with the scopes in another order changes nothing', async () => {
      await capture(bed(), ddl, newer)
      const other = feedOn(bed(), { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['team', 'project'] } })
      expect(await other.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await other.verify()).toEqual([])
    })

    it('that is upgraded adds its tables and scopes, announces them, and the older one stays right', async () => {
      await bed().sql(ddl)
      const older = feedOn(bed(), { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project'] } })
      await older.migrate()
      const feed = feedOn(bed(), newer)
      expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks', 'notes', 'cities'] })
      expect(await older.verify()).toEqual([])
      expect(await older.migrate()).toEqual({ migrations: [], installed: [] })
      expect(
        await changesOf(bed(), older, `insert into tasks values (1, 'acme', 7, 'a')`, `update tasks set team = 'b'`),
      ).toEqual(['create tasks 1 @acme', 'delete tasks 1 @acme', 'create tasks 1 @acme'])
    })

    it.each<[string, Declaration, string]>([
      ['another key', { tenant: 'tenant_id', key: ['tenant_id', 'id'] }, 'key'],
      ['the key in another order', { tenant: 'tenant_id', key: ['n', 'id'] }, 'key'],
      ['another tenant column', { tenant: 'other', key: 'id' }, 'tenant column'],
      ['no tenant', { tenant: null, key: 'id' }, 'tenant column'],
    ])('with %s conflicts, until redeclare says that it is meant', async (_, changed, what) => {
      const table = changed.key[0] === 'n' ? 'notes' : 'tasks'
      await bed().sql(`${ddl}; alter table tasks add other text not null default 'o', add unique (tenant_id, id)`)
      const feed = feedOn(bed(), declared)
      await feed.migrate()
      const before = await versions()
      const other = feedOn(bed(), { ...declared, [table]: changed })
      await expect(other.migrate()).rejects.toMatchObject({
        code: 'declarationConflict',
        table,
        message: expect.stringContaining(`another ${what}`),
      })
      await expect(other.migrate({ redeclare: ['nowhere'] })).rejects.toMatchObject({
        code: 'invalidInput',
        field: 'redeclare',
      })
      await expect(readChanges(other, reader, { since: 'start' })).rejects.toMatchObject({
        code: 'declarationConflict',
        table,
      })
      expect(await other.verify()).toMatchObject([{ table }])
      expect(await versions()).toEqual(before)

      const since = await now(feed)
      expect(await other.migrate({ redeclare: [table] })).toEqual({ migrations: [], installed: [table] })
      expect(await changesSince(other, since)).toEqual([`invalidate ${table} *`])
      // Keys of the new form are not for a version that expects the old one.
      await expect(readChanges(feed, reader, { since })).rejects.toMatchObject({ code: 'declarationConflict', table })
      expect(await other.verify()).toEqual([])
      await expect(feed.migrate()).rejects.toMatchObject({ code: 'declarationConflict', table })
      const [written] = await entriesOf(
        bed(),
        table === 'notes' ? `insert into notes values (1, 2, 'acme')` : `insert into tasks values (1, 'acme')`,
      )
      const keys = { 'tenant_id,id': '["acme","1"]', 'n,id': '["2","1"]', id: '1' }[[changed.key].flat().join()]
      expect(written).toMatchObject({
        keys: [keys],
        tenant: changed.tenant === null ? null : changed.tenant === 'other' ? 'o' : 'acme',
      })
    })
  })
}
