import { beforeEach, describe, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, type Declaration, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { announced, mended, quiet, startUp } from '../support/start-up.ts'

const declared = { tenant: 'tenant', key: 'id' } as const satisfies Declaration
const ddl = `create table t (id int primary key, tenant text not null, v text)`

/** DDL on a captured table as a whole (docs/capture.md, "Schema changes"). */
export function schemaChangesTable(bed: () => Bed): void {
  describe('a schema change of the table', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), ddl, { t: declared })
      await bed().sql(`insert into t values (1, 'acme'), (2, 'acme')`)
    })
    const writes = (table: string): string[] => [
      `insert into ${table} values (9, 'acme')`,
      `update ${table} set v = 'x' where id = 9`,
      `update ${table} set id = 8 where id = 9`,
      `delete from ${table} where id = 8`,
      `truncate ${table}`,
    ]
    const told = (name: string): string[] => [
      `create ${name} 9 @acme`,
      `update ${name} 9 @acme`,
      `delete ${name} 9 @acme`,
      `create ${name} 8 @acme`,
      `delete ${name} 8 @acme`,
      `invalidate ${name} *`,
    ]

    it('renamed: still captured under its old name; start-up refuses the old name, and the new one until untrack()', async () => {
      await bed().sql('alter table t rename to u')
      expect(await changesOf(bed(), feed, ...writes('u'))).toEqual(told('t'))
      await expect(feed.migrate()).rejects.toMatchObject({
        code: 'unsupportedTable',
        table: 't',
        message: expect.stringContaining('does not exist'),
      })
      expect(await feed.verify()).toMatchObject([{ code: 'unsupportedTable', table: 't' }])
      const renamed = feedOn(bed(), { u: declared })
      const conflict = { code: 'declarationConflict', table: 'u' }
      const remedy = expect.stringContaining(`untrack(feed, 't')`) as string
      await expect(renamed.migrate()).rejects.toMatchObject({ ...conflict, message: remedy })
      expect(await renamed.verify()).toMatchObject([{ ...conflict, problem: remedy }])
      await untrack(feed, 't')
      expect(await startUp(bed(), renamed)).toEqual(announced('u', 'notCaptured', 'is not captured'))
      expect(await changesOf(bed(), renamed, ...writes('u'))).toEqual(told('u'))
    })

    it('moved to another schema: still captured; declared by its full name it must be declared anew', async () => {
      const qualified = feedOn(bed(), { 'app.t': { ...declared, capture: 'statement' } }, { schema: 'qualified' })
      await qualified.migrate()
      await bed().sql('alter table t set schema public')
      try {
        expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
        expect(await startUp(bed(), feed)).toEqual(quiet)
        expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
        await expect(qualified.migrate()).rejects.toMatchObject({ code: 'unsupportedTable', table: 'app.t' })
        expect(await changesOf(bed(), qualified, ...writes('t'))).toEqual(told('app.t'))
        await untrack(qualified, 'app.t')
      } finally {
        await bed().sql('drop schema qualified cascade; drop table public.t')
      }
    })

    it('a schema that is renamed takes the table along', async () => {
      await bed().sql('alter schema app rename to moved')
      expect(await changesOf(bed(), feed, ...writes('moved.t'))).toEqual(told('t'))
      await bed().sql('alter schema moved rename to app')
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('dropped and created again: not captured until start-up, which tells, once', async () => {
      await bed().sql(`drop table t; ${ddl}`)
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual([])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'tableReplaced', 'was dropped and created again'))
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
    })

    it('exchanged for a new one under its name: the old one is let go, the new one told, once', async () => {
      await bed().sql(
        `create table fresh (like t including all); insert into fresh select * from t; alter table t rename to old; alter table fresh rename to t`,
      )
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'tableReplaced', 'was dropped and created again'))
      expect(await changesOf(bed(), feed, ...writes('old'), ...writes('t'))).toEqual(told('t'))
      expect(await bed().sql(`select from pg_trigger where tgrelid = 'old'::regclass and not tgisinternal`)).toEqual([])
    })

    it('exchanged for another captured table: neither is lost, whichever is declared first', async () => {
      for (const order of ['first', 'last']) {
        const declarations = order === 'first' ? { u: declared, t: declared } : { t: declared, u: declared }
        const both = feedOn(bed(), declarations)
        await bed().sql(`drop table if exists u; create table u (id int primary key, tenant text not null, v text)`)
        await both.migrate()
        await bed().sql('alter table t rename to x; alter table u rename to t; alter table x rename to u')
        // Which of them the name now means is for the operator to say.
        await expect(both.migrate()).rejects.toMatchObject({ code: 'declarationConflict' })
        await untrack(both, 't')
        await untrack(both, 'u')
        expect(await startUp(bed(), both)).toMatchObject({
          told: declarationsOf(declarations).map((name) => `invalidate ${name}`),
        })
        expect(await changesOf(bed(), both, ...writes('t'), ...writes('u'))).toEqual([...told('t'), ...told('u')])
      }
    })

    it('restored as pg_restore restores data, with its triggers disabled and enabled again: told, once', async () => {
      await bed().sql(
        `alter table t disable trigger all; insert into t values (5, 'acme'); alter table t enable trigger all`,
      )
      expect(await changesOf(bed(), feed, `insert into t values (6, 'acme')`)).toEqual(['create t 6 @acme'])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'trigger', 'is not enabled always'))
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
    })

    it('unlogged: captured, but verify() finds it and migrate() refuses until it is logged again', async () => {
      await bed().sql('alter table t set unlogged')
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
      const refusal = { code: 'unsupportedTable', table: 't' }
      await expect(feed.migrate()).rejects.toMatchObject({ ...refusal, message: expect.stringContaining('set logged') })
      expect(await feed.verify()).toMatchObject([{ ...refusal, problem: expect.stringContaining('set logged') }])
      await bed().sql('alter table t set logged')
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('with children, or a parent, by inheritance: verify() finds it and migrate() refuses', async () => {
      await bed().sql('create table child () inherits (t)')
      expect(await feed.verify()).toMatchObject([
        { code: 'unsupportedTable', problem: expect.stringContaining('inheritance') },
      ])
      await expect(feed.migrate()).rejects.toMatchObject({ code: 'unsupportedTable' })
      await bed().sql('drop table child')
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('without the unique index of its key: verify() finds it, migrate() refuses', async () => {
      await bed().sql('alter table t drop constraint t_pkey')
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
      expect(await feed.verify()).toMatchObject([
        { code: 'unsupportedColumn', problem: expect.stringContaining('unique index') },
      ])
      await bed().sql('alter table t add primary key (id)')
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('with its key deferrable from now on: keys can be used again, so it is captured otherwise', async () => {
      await bed().sql(
        'alter table t drop constraint t_pkey; alter table t add primary key (id) deferrable initially deferred',
      )
      expect(await startUp(bed(), feed)).toMatchObject({ findings: [{ code: 'function' }], installed: ['t'] })
      expect(
        await changesOf(
          bed(),
          feed,
          `begin; insert into t values (1, 'acme', 'new'); delete from t where id = 1 and v is null; commit`,
        ),
      ).toEqual(['create t 1 @acme'])
      await bed().sql('alter table t drop constraint t_pkey; alter table t add primary key (id)')
      expect(await startUp(bed(), feed)).toMatchObject({ findings: [{ code: 'function' }], installed: ['t'] })
    })

    it.each([
      ['insert', 'c'],
      ['update', 'u'],
      ['delete', 'd'],
      ['truncate', 't'],
    ])('its %s function replaced by hand: told, once, and captured again', async (word, operation) => {
      await bed().sql(
        `create or replace function ${quoted(bed().feedSchema)}.c1_${operation}() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
      )
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'function', `${word} trigger has another function`))
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
    })

    it('installed by the version before layouts: brought up to date, and nobody is told', async () => {
      const schema = quoted(bed().feedSchema)
      await bed().sql(
        `update ${schema}.tracked set layout = null, capture_version = 1; drop trigger ${quoted(`!${bed().feedSchema}_guard`)} on t;
         create or replace function ${schema}.c1_u() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end';
         delete from ${schema}.migration where number = 2; alter table ${schema}.tracked drop layout; drop function ${schema}.guard()`,
      )
      expect(await feed.verify()).toMatchObject([{ code: 'notInstalled', unseen: false }])
      const before = await bed().sql(`select count(*) from ${schema}.log`)
      expect(await feed.migrate()).toEqual({ migrations: [2], installed: ['t'] })
      expect(await bed().sql(`select count(*) from ${schema}.log`)).toEqual(before)
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect(await changesOf(bed(), feed, ...writes('t'))).toEqual(told('t'))
      await bed().sql('alter table t add w int default 7')
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', '"w"'))
    })

    it('with a layout that nobody has noted: noted and mended, and nobody is told', async () => {
      await bed().sql(
        `update ${quoted(bed().feedSchema)}.tracked set layout = null, capture_version = 1; alter table t add w int; drop trigger ${quoted(`!${bed().feedSchema}_guard`)} on t`,
      )
      expect(await startUp(bed(), feed)).toEqual(mended('t', 'guard', 'is missing'))
    })
  })
}

function declarationsOf(tables: object): string[] {
  return Object.keys(tables)
}
