import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesBy, changesOf, entriesOf } from '../support/changes.ts'

const declared = { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project'] } } as const

/** DDL beside capture: what the triggers make of the next write (docs/capture.md, rules 5, 6, 24, 25). */
export function tableChanges(bed: () => Bed): void {
  describe('a table that changes', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(
        bed(),
        `create table tasks (id int primary key, a text, tenant_id text not null, b text default 'b', project int); insert into tasks select g, 'a', 'acme' from generate_series(1, 4) g`,
        declared,
      )
    })

    it('columns added, dropped, renamed and retyped are followed, in sessions that have written before too', async () => {
      await using session = await bed().session()
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      const one = ['update tasks 1 @acme']
      // Both branches of each function are planned in this session before anything changes.
      await session.sql(
        `insert into tasks values (90, 'a', 'acme'); insert into tasks values (91, 'a', 'acme'), (92, 'a', 'acme'); update tasks set a = '0'; update tasks set a = '1' where id = 1; delete from tasks where id = 90; delete from tasks where id > 90`,
      )
      expect(
        await changesOf(
          on,
          feed,
          `alter table tasks add column fresh text`,
          `update tasks set fresh = 'x' where id = 1`,
        ),
      ).toEqual(one)
      expect((await changesOf(on, feed, `update tasks set fresh = 'y'`)).length).toBe(4)
      expect(
        await changesOf(
          on,
          feed,
          `alter table tasks add column late int default 7`,
          `update tasks set late = 7`,
          `update tasks set late = 8 where id = 1`,
        ),
      ).toEqual(one)
      expect(
        await changesOf(
          on,
          feed,
          `alter table tasks drop column a`,
          `update tasks set b = 'c' where id = 1`,
          `update tasks set b = b`,
        ),
      ).toEqual(one)
      expect(
        await changesOf(on, feed, `alter table tasks rename column b to bb`, `update tasks set bb = 'd' where id = 1`),
      ).toEqual(one)
      expect(
        await changesOf(
          on,
          feed,
          `alter table tasks alter bb drop default, alter bb type jsonb using to_jsonb(bb)`,
          `update tasks set bb = '{}' where id = 1`,
          `update tasks set bb = bb`,
        ),
      ).toEqual(one)
      expect(
        await changesOf(
          on,
          feed,
          `delete from tasks where id = 2`,
          `delete from tasks`,
          `insert into tasks (id, tenant_id) values (5, 'acme')`,
        ),
      ).toHaveLength(5)
      // Nothing was lost, but no trigger saw what the DDL itself did to the rows.
      expect(await feed.verify()).toMatchObject([{ code: 'rowsChanged', table: 'tasks', unseen: true }])
      expect(
        await changesBy(feed, async () => {
          expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
        }),
      ).toEqual(['invalidate tasks *'])
      expect(await feed.verify()).toEqual([])
    })

    it('a tracked column cannot be dropped or retyped unawares: Postgres refuses, naming the guard', async () => {
      for (const change of [
        'drop column id',
        'drop column tenant_id',
        'drop column project',
        'alter id type bigint',
        'alter tenant_id type varchar(9)',
        'alter project type bigint',
      ]) {
        const refusal: unknown = await bed()
          .sql(`alter table tasks ${change}`)
          .catch((error: unknown) => error)
        expect(refusal, change).toMatchObject({
          code: change.startsWith('drop') ? '2BP01' : '0A000',
          detail: expect.stringContaining(`!${bed().feedSchema}_guard`),
        })
      }
      await bed().sql('alter table tasks drop column a, alter b type varchar(9)')
      expect(await changesOf(bed(), feed, `update tasks set b = 'z' where id = 1`)).toEqual(['update tasks 1 @acme'])
    })

    it('a key that becomes bigint once the guard is dropped is followed; migrate() installs and announces it anew', async () => {
      await using session = await bed().session()
      await session.sql(`update tasks set a = 'x' where id = 1`)
      await session.sql(`drop trigger ${quoted(`!${bed().feedSchema}_guard`)} on tasks`)
      expect(await feed.verify()).toMatchObject([
        { code: 'guard', problem: 'guard of the tracked columns is missing', unseen: false },
      ])
      await session.sql(`alter table tasks alter id type bigint`)
      expect(await feed.verify()).toMatchObject([{ code: 'rowsChanged', table: 'tasks', unseen: true }])
      const writes = [`update tasks set id = 9007199254740993 where id = 1`, `update tasks set a = 'y' where id = 2`]
      const told = ['delete tasks 1 @acme', 'create tasks 9007199254740993 @acme', 'update tasks 2 @acme']
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      if (bed().level === 'row') {
        // A session that wrote before has the old type in its plans; it goes on once the functions are replaced.
        for (const write of writes) await expect(session.sql(write)).rejects.toMatchObject({ code: '42804' })
      } else {
        expect(await changesOf(on, feed, ...writes)).toEqual(told)
        await session.sql(`update tasks set id = 1 where id > 99; update tasks set a = 'x' where id = 2`)
      }
      expect(
        await changesBy(feed, async () => {
          expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
        }),
      ).toEqual(['invalidate tasks *'])
      expect(await changesOf(on, feed, ...writes)).toEqual(told)
      expect(await feed.verify()).toEqual([])
      await expect(bed().sql('alter table tasks drop column id')).rejects.toMatchObject({ code: '2BP01' })
    })

    it('the guard, dropped or enabled by hand, is put back unannounced', async () => {
      const guard = quoted(`!${bed().feedSchema}_guard`)
      for (const [damage, problem] of [
        [`drop trigger ${guard} on tasks`, 'is missing'],
        [`alter table tasks enable always trigger ${guard}`, 'was altered'],
        [
          `create or replace trigger ${guard} after update of b on tasks for each statement execute function ${quoted(bed().feedSchema)}.guard(); alter table tasks disable trigger ${guard}`,
          'was altered',
        ],
      ] as const) {
        await bed().sql(damage)
        expect(await feed.verify()).toMatchObject([
          { code: 'guard', problem: expect.stringContaining(problem), unseen: false },
        ])
        expect(await changesOf(bed(), feed, `update tasks set id = id + 10 where id = 4`)).toHaveLength(2)
        expect(
          await changesBy(feed, async () => {
            expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
          }),
        ).toEqual([])
        expect(await feed.verify()).toEqual([])
        await bed().sql('update tasks set id = id - 10 where id = 14')
      }
    })

    it('a renamed tracked column fails the next write, naming the capture function; verify() and migrate() name the column', async () => {
      for (const [from, to] of [
        ['id', 'idd'],
        ['tenant_id', 'tenant'],
        ['project', 'proj'],
      ] as const) {
        await bed().sql(`alter table tasks rename column ${from} to ${to}`)
        for (const write of [
          `insert into tasks values (9, 'a', 'acme')`,
          `update tasks set a = 'z'`,
          `delete from tasks`,
        ]) {
          await expect(bed().sql(write)).rejects.toMatchObject({
            code: '42703',
            where: expect.stringMatching(/PL\/pgSQL function .*\.c1_[cud]\(\)/),
          })
        }
        const refusal = expect.stringContaining(`"${from}": was renamed to "${to}"`)
        expect(await feed.verify()).toMatchObject([
          { code: 'unsupportedColumn', table: 'tasks', problem: refusal, unseen: false },
        ])
        await expect(feed.migrate()).rejects.toMatchObject({
          code: 'unsupportedColumn',
          column: from,
          message: refusal,
        })
        await bed().sql(`alter table tasks rename column ${to} to ${from}`)
      }
      expect(await changesOf(bed(), feed, `update tasks set a = 'z' where id = 1`)).toEqual(['update tasks 1 @acme'])
    })

    it('a renamed tracked column declared under its new name is the same column, announced by migrate()', async () => {
      await bed().sql(
        `alter table tasks rename column id to idd; alter table tasks rename column tenant_id to org; alter table tasks rename column project to proj`,
      )
      const renamed = feedOn(bed(), { tasks: { tenant: 'org', key: 'idd', scopes: ['proj'] } })
      expect(await renamed.verify()).toMatchObject([{ code: 'rowsChanged', unseen: true }])
      // Read without a catalogue of before: the former declaration is refused from now on.
      expect(await renamed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
      expect(await renamed.verify()).toEqual([])
      expect(
        await changesOf(
          bed(),
          renamed,
          `insert into tasks (idd, org) values (9, 'bolt')`,
          `update tasks set a = 'z' where idd = 1`,
          `update tasks set org = 'bolt' where idd = 2`,
          `delete from tasks where idd = 3`,
        ),
      ).toEqual([
        'create tasks 9 @bolt',
        'update tasks 1 @acme',
        'delete tasks 2 @acme',
        'create tasks 2 @bolt',
        'delete tasks 3 @acme',
      ])
      const [announced] = await bed().sql(
        `select count(*)::int as n from ${quoted(bed().feedSchema)}.log where op = 'i'`,
      )
      expect(announced).toEqual({ n: 2 })
    })

    it('a scope column dropped with the guard fails the next write, until migrate() with a declaration that does without it', async () => {
      await bed().sql('alter table tasks drop column project cascade')
      await expect(bed().sql(`update tasks set a = 'z' where id = 1`)).rejects.toMatchObject({ code: '42703' })
      const without = await capture(bed(), '', { tasks: { tenant: 'tenant_id', key: 'id' } })
      expect(await changesOf(bed(), without, `update tasks set a = 'z' where id = 1`)).toEqual(['update tasks 1 @acme'])
    })

    it('a log that was dropped, or a feed schema that was renamed, fails the write: nothing is lost in silence', async () => {
      const schema = `"${bed().feedSchema}"`
      await bed().sql(`alter schema ${schema} rename to moved`)
      await expect(bed().sql(`update tasks set a = 'z' where id = 1`)).rejects.toMatchObject({
        code: expect.stringMatching(/42P01|3F000/),
      })
      await bed().sql(`alter schema moved rename to ${schema}; drop table ${schema}.log`)
      await expect(bed().sql(`update tasks set a = 'z' where id = 1`)).rejects.toMatchObject({ code: '42P01' })
    })

    it('a feed schema that was dropped takes its triggers along: writes go on, and migrate() installs and announces anew', async () => {
      await bed().sql(`drop schema "${bed().feedSchema}" cascade; update tasks set a = 'unseen'`)
      expect(await feed.migrate()).toMatchObject({ installed: ['tasks'] })
      expect(await entriesOf(bed(), `update tasks set a = 'seen' where id = 1`)).toMatchObject([
        { op: 'u', keys: ['1'] },
      ])
      const [announced] = await bed().sql(`select op::text from "${bed().feedSchema}".log order by id limit 1`)
      expect(announced).toEqual({ op: 'i' })
    })
  })

  describe('generated columns', () => {
    beforeEach(() => bed().reset())
    it('stored ones may be key, tenant and scope, and move with their source', async () => {
      const feed = await capture(
        bed(),
        `create table t (src text not null, id text generated always as (lower(src)) stored primary key, org text generated always as (substr(src, 1, 1)) stored not null)`,
        { t: { tenant: 'org', key: 'id', scopes: ['org'] } },
      )
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into t values ('AB')`,
          `update t set src = 'Ab'`,
          `update t set src = 'B'`,
        ),
      ).toEqual(['create t ab @A', 'update t ab @A', 'delete t ab @A', 'create t b @B'])
    })

    it('virtual ones beside the tracked columns harm nothing', async ({ skip }) => {
      skip(bed().major < 18, 'virtual generated columns begin with Postgres 18')
      const feed = await capture(
        bed(),
        `create table t (id int primary key, a int, twice int generated always as (a * 2) virtual, v text generated always as ('x') virtual); insert into t values (1, 1), (2, 2)`,
        { t: { tenant: null, key: 'id' } },
      )
      expect(
        (
          await changesOf(
            bed(),
            feed,
            `update t set a = 5 where id = 1`,
            `update t set a = a`,
            `update t set a = a + 1`,
          )
        ).toSorted(),
      ).toEqual(['update t 1', 'update t 1', 'update t 2'])
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into t values (3, 3)`,
          `delete from t where id = 3`,
          `alter table t add column w text generated always as (id::text) virtual`,
          `update t set a = 0 where id = 2`,
        ),
      ).toEqual(['create t 3', 'delete t 3', 'update t 2'])
    })
  })
}
