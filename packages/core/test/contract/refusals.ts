import { beforeEach, describe, expect, it } from 'vitest'
import { DeclarationConflictError, UnsupportedColumnError, UnsupportedTableError } from '../../src/index.ts'
import { type Bed, type Declaration, feedOn } from '../support/bed.ts'
import { hasIcu } from './capture-no-ops.ts'

/** Runs `work` and gives what it threw. */
async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  )
}

const keyed = (tenant: string | null = null): Declaration => ({ tenant, key: 'id' })

/** What cannot be captured is refused by name, before anything is installed on it (docs/capture.md, rules 6, 12, 16, 18). */
export function refusals(bed: () => Bed): void {
  const refusalOf = async (ddl: string, tables: Readonly<Record<string, Declaration>>): Promise<unknown> => {
    await bed().sql(ddl)
    const feed = feedOn(bed(), tables)
    const thrown = await thrownBy(feed.migrate())
    const [count] = await bed().sql(
      `select count(*)::int as n from pg_trigger t join pg_class c on c.oid = t.tgrelid where not tgisinternal and relnamespace = 'app'::regnamespace`,
    )
    expect(count).toEqual({ n: 0 })
    expect(await feed.verify()).not.toEqual([])
    return thrown
  }

  describe('refused column types', () => {
    beforeEach(() => bed().reset())
    const refused = [
      'float4',
      'float8',
      'interval',
      'money',
      'json',
      'jsonb',
      'point',
      'tstzrange',
      'int4[]',
      'timetz',
      '"char"',
      'inet',
      'macaddr8',
      'bit(3)',
      'regclass',
      'tsvector',
      'tsquery',
      'pg_lsn',
      'oidvector',
    ]
    it('as key, tenant or scope: a typed error names table, column and type', async () => {
      await bed().sql(refused.map((type, i) => `create table t${i} (id int primary key, v ${type} not null)`).join(';'))
      for (const [i, type] of refused.entries()) {
        for (const declared of [
          { tenant: null, key: 'v' },
          { tenant: 'v', key: 'id' },
          { tenant: null, key: 'id', scopes: ['v'] },
        ]) {
          const thrown = await thrownBy(feedOn(bed(), { [`t${i}`]: declared }).migrate())
          expect(thrown, type).toBeInstanceOf(UnsupportedColumnError)
          expect(thrown).toMatchObject({
            code: 'unsupportedColumn',
            table: `t${i}`,
            column: 'v',
            message: expect.stringMatching(/ its type .+ has no text that is the same in every session/),
          })
        }
      }
    })

    it('that only look like accepted ones: a composite type called citext, an array of a domain', async () => {
      await bed().sql(
        `create type app.citext as (a date); create domain app.small as int; create table t (id int primary key, v app.citext not null, w app.small[] not null)`,
      )
      for (const column of ['v', 'w']) {
        expect(await thrownBy(feedOn(bed(), { t: { tenant: column, key: 'id' } }).migrate())).toMatchObject({
          code: 'unsupportedColumn',
          column,
        })
      }
    })
  })

  describe('refused columns', () => {
    beforeEach(() => bed().reset())
    it('that do not exist', async () => {
      expect(await refusalOf('create table t (id int primary key)', { t: keyed('tenant_id') })).toMatchObject({
        code: 'unsupportedColumn',
        table: 't',
        column: 'tenant_id',
        message: expect.stringContaining('there is no such column (tenant column)'),
      })
    })

    it.each([
      ['key', { tenant: null, key: 'v' }],
      ['tenant', { tenant: 'v', key: 'id' }],
    ])('that may be null: %s', async (role, declared) => {
      const thrown = await refusalOf('create table t (id int primary key, v text unique)', { t: declared })
      expect(thrown).toMatchObject({
        code: 'unsupportedColumn',
        column: 'v',
        message: expect.stringContaining(`may be null: add NOT NULL (${role} column)`),
      })
    })

    it('whose NOT NULL is not validated yet, so that nulls may be there', async ({ skip }) => {
      skip(bed().major < 18, 'NOT NULL … NOT VALID begins with Postgres 18')
      const ddl = `create table t (id int primary key, v text); insert into t values (1, null); alter table t add constraint v_there not null v not valid`
      expect(await refusalOf(ddl, { t: keyed('v') })).toMatchObject({ code: 'unsupportedColumn', column: 'v' })
      await bed().sql(`delete from t; alter table t validate constraint v_there`)
      await feedOn(bed(), { t: keyed('v') }).migrate()
    })

    it('but a scope column may be null', async () => {
      await bed().sql('create table t (id int primary key, v text)')
      expect(await feedOn(bed(), { t: { tenant: null, key: 'id', scopes: ['v'] } }).migrate()).toMatchObject({
        installed: ['t'],
      })
    })

    it('that are virtual', async ({ skip }) => {
      skip(bed().major < 18, 'virtual generated columns begin with Postgres 18')
      const ddl = `create table t (id int primary key, a text not null, v text generated always as (a) virtual not null)`
      for (const declared of [
        { tenant: 'v', key: 'id' },
        { tenant: null, key: 'id', scopes: ['v'] },
      ]) {
        expect(await refusalOf(`drop table if exists t; ${ddl}`, { t: declared })).toMatchObject({
          code: 'unsupportedColumn',
          column: 'v',
          message: expect.stringContaining('virtual'),
        })
      }
    })

    it('but stored generated columns are fine', async () => {
      await bed().sql(
        `create table t (id int primary key, a text not null, v text generated always as (lower(a)) stored not null)`,
      )
      expect(await feedOn(bed(), { t: { tenant: 'v', key: 'id', scopes: ['v'] } }).migrate()).toMatchObject({
        installed: ['t'],
      })
    })

    it.each([
      ['no index', ''],
      ['an ordinary index', 'create index on t (a)'],
      ['a partial unique index', 'create unique index on t (a) where b > 0'],
      ['a unique index over an expression', 'create unique index on t (lower(a))'],
      ['a unique index over more columns', 'create unique index on t (a, b)'],
      ['an exclusion constraint', 'alter table t add exclude using btree (a with =)'],
    ])('a key that no unique index covers exactly: %s', async (_, index) => {
      const thrown = await refusalOf(`create table t (a text not null, b int not null); ${index}`, {
        t: { tenant: null, key: 'a' },
      })
      expect(thrown).toMatchObject({
        code: 'unsupportedColumn',
        table: 't',
        column: 'a',
        message: expect.stringContaining('no unique index covers exactly the key'),
      })
    })

    it.each([
      ['a primary key', 'primary key (a, b)'],
      ['a deferrable constraint, columns in another order', 'unique (b, a) deferrable initially deferred'],
      ['an index that includes more', 'unique (a, b) include (c)'],
    ])('but any unique index will do: %s', async (_, constraint) => {
      await bed().sql(`create table t (a text not null, b int not null, c int, ${constraint})`)
      expect(await feedOn(bed(), { t: { tenant: null, key: ['a', 'b'] } }).migrate()).toMatchObject({
        installed: ['t'],
      })
    })

    it('tenants of two types', async () => {
      const thrown = await refusalOf(
        'create table t (id int primary key, v text not null); create table u (id int primary key, v uuid not null)',
        {
          t: keyed('v'),
          u: keyed('v'),
        },
      )
      expect(thrown).toBeInstanceOf(UnsupportedColumnError)
      expect(thrown).toMatchObject({
        table: 'u',
        column: 'v',
        message: expect.stringContaining('all tenant columns of a feed have one type'),
      })
    })

    it('tenants of another type than that of a table installed before by another declaration', async () => {
      await bed().sql(
        'create table t (id int primary key, v text not null); create table u (id int primary key, v uuid not null)',
      )
      await feedOn(bed(), { t: keyed('v') }).migrate()
      expect(await thrownBy(feedOn(bed(), { u: keyed('v') }).migrate())).toMatchObject({
        code: 'unsupportedColumn',
        table: 'u',
      })
    })

    it('but tenants over domains of one type are one type', async () => {
      await bed().sql(
        'create domain org as text; create table t (id int primary key, v text not null); create table u (id int primary key, v org not null)',
      )
      expect(await feedOn(bed(), { t: keyed('v'), u: keyed('v') }).migrate()).toMatchObject({ installed: ['t', 'u'] })
    })

    it('a nondeterministic collation is no reason', async ({ skip }) => {
      skip(!(await hasIcu(bed())), 'this build of Postgres has no ICU')
      await bed().sql(
        `create collation app.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create table t (v text collate app.loose primary key)`,
      )
      expect(await feedOn(bed(), { t: { tenant: 'v', key: 'v', scopes: ['v'] } }).migrate()).toMatchObject({
        installed: ['t'],
      })
    })
  })

  describe('refused tables', () => {
    beforeEach(() => bed().reset())
    it.each([
      ['missing', '', 'does not exist'],
      ['a view', 'create table base (id int primary key); create view t as select * from base', 'is a view'],
      ['a materialized view', 'create materialized view t as select 1 as id', 'is a materialized view'],
      [
        'a partition',
        'create table p (id int primary key) partition by range (id); create table t partition of p for values from (0) to (9)',
        'is a partition: declare the partitioned table',
      ],
      [
        'an inheritance parent',
        'create table t (id int primary key); create table child () inherits (t)',
        'takes part in inheritance',
      ],
      [
        'an inheritance child',
        'create table base (id int); create table t (primary key (id)) inherits (base)',
        'takes part in inheritance',
      ],
      ['unlogged', 'create unlogged table t (id int primary key)', 'is unlogged'],
      [
        'a foreign table',
        'create foreign data wrapper w; create server s foreign data wrapper w; create foreign table t (id int not null) server s',
        'is a foreign table',
      ],
      ['a sequence', 'create sequence t', 'is a sequence'],
      ['a composite type', 'create type t as (id int)', 'is a composite type'],
    ])('%s', async (_, ddl, message) => {
      const thrown = await refusalOf(ddl, { t: keyed() })
      await bed().sql('drop foreign data wrapper if exists w cascade')
      expect(thrown).toBeInstanceOf(UnsupportedTableError)
      expect(thrown).toMatchObject({ code: 'unsupportedTable', table: 't', message: expect.stringContaining(message) })
    })

    it('hidden from this session by a temporary one', async () => {
      await using session = await bed().session({ setup: 'create temp table hidden (id int primary key)' })
      if (bed().backend === 'pglite') {
        await session.sql('create table app.hidden (id int primary key)')
        expect(await thrownBy(feedOn(bed(), { hidden: keyed() }).migrate())).toMatchObject({
          code: 'unsupportedTable',
          message: expect.stringContaining('is temporary'),
        })
        await session.sql('drop table pg_temp.hidden')
      } else {
        // Only the session that made it sees it: to the feed it does not exist.
        expect(await thrownBy(feedOn(bed(), { hidden: keyed() }).migrate())).toMatchObject({
          code: 'unsupportedTable',
          message: expect.stringContaining('does not exist'),
        })
      }
    })

    it('one table under two names', async () => {
      await bed().sql('create table t (id int primary key)')
      const thrown = await thrownBy(feedOn(bed(), { t: keyed(), 'app.t': keyed() }).migrate())
      expect(thrown).toBeInstanceOf(DeclarationConflictError)
      expect(thrown).toMatchObject({
        table: 'app.t',
        message: expect.stringContaining('is tracked under the name "t"'),
      })
    })

    it('one bad table is found before any other is touched, and verify() lists each', async () => {
      await bed().sql(
        'create table good (id int primary key); create table bad (id int); create view worse as select 1 as id',
      )
      const feed = feedOn(bed(), { good: keyed(), bad: keyed(), worse: keyed() })
      expect(await thrownBy(feed.migrate())).toMatchObject({ table: 'bad' })
      expect((await feed.verify()).map(({ table, problem }) => [table, problem.length > 10])).toEqual([
        ['good', true],
        ['bad', true],
        ['worse', true],
      ])
    })
  })
}
