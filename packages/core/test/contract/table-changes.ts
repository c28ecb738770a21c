import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, entriesOf } from '../support/changes.ts'

const declared = { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project'] } } as const

/** DDL beside capture (docs/capture.md, rules 5, 6, 24). */
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
      expect(await feed.verify()).toEqual([])
    })

    it('a key that becomes bigint is followed; migrate() installs it anew and says so', async () => {
      await using session = await bed().session()
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      await session.sql(`update tasks set a = 'x' where id = 1`)
      expect(
        await changesOf(
          on,
          feed,
          `alter table tasks alter id type bigint`,
          `update tasks set id = 9007199254740993 where id = 1`,
          `update tasks set a = 'y' where id = 2`,
        ),
      ).toEqual(['delete tasks 1 @acme', 'create tasks 9007199254740993 @acme', 'update tasks 2 @acme'])
      expect(await feed.verify()).toMatchObject([{ table: 'tasks' }])
      expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
      expect(await feed.verify()).toEqual([])
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
        expect(await feed.verify()).toMatchObject([{ table: 'tasks', problem: expect.stringContaining(`"${from}"`) }])
        await expect(feed.migrate()).rejects.toMatchObject({ code: 'unsupportedColumn', column: from })
        await bed().sql(`alter table tasks rename column ${to} to ${from}`)
      }
      expect(await changesOf(bed(), feed, `update tasks set a = 'z' where id = 1`)).toEqual(['update tasks 1 @acme'])
    })

    it('a dropped scope column fails the next write, until migrate() with a declaration that does without it', async () => {
      await bed().sql('alter table tasks drop column project')
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
