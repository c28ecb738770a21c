import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { announced, quiet, type StartUp, startUp } from '../support/start-up.ts'

export const columnsOfAllKinds = `create type mood as enum ('sad', 'glad'); create domain small as int check (value < 1000); create domain feeling as mood;
  create table t (id int primary key, tenant text not null, v text, n numeric, m mood, ms mood[], f feeling, s small, g int generated always as (id * 2) stored, other text);
  insert into t (id, tenant, v, n, m, ms, f, s) values (1, 'acme', 'x', 1, 'sad', '{sad}', 'sad', 1), (2, 'acme', 'y', 2, 'glad', '{glad,sad}', 'glad', 2)`

/** Captures every kind of write, whatever has become of the columns that are not tracked. */
export async function isCaptured(bed: Bed, feed: AnyFeed): Promise<void> {
  expect(
    await changesOf(
      bed,
      feed,
      `insert into t (id, tenant) values (9, 'acme')`,
      `update t set s = 7 where id = 9`,
      `update t set s = s`,
      `update t set id = 8 where id = 9`,
      `delete from t where id = 8`,
    ),
  ).toEqual(['create t 9 @acme', 'update t 9 @acme', 'delete t 9 @acme', 'create t 8 @acme', 'delete t 8 @acme'])
}

/** DDL on columns that capture does not read, and that changes no rows (docs/capture.md, "Schema changes"). */
export function schemaChanges(bed: () => Bed): void {
  describe('a schema change', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), columnsOfAllKinds, { t: { tenant: 'tenant', key: 'id' } })
    })
    const changed = (problem: string): StartUp => announced('t', 'rowsChanged', problem)
    it.each([
      ['a column added, empty', 'alter table t add w text'],
      ['several columns added, empty', 'alter table t add w text, add x int, add y jsonb, add z text[]'],
      [
        'a column added, empty, whose default is set afterwards for new rows',
        `alter table t add w text; update t set w = 'told'; alter table t alter w set default 'x'; alter table t alter w drop default`,
      ],
      ['a column dropped', 'alter table t drop v'],
      ['a stored generated column dropped', 'alter table t drop g'],
      ['a default set', `alter table t alter v set default 'x'`],
      [
        'NOT NULL set and dropped',
        'alter table t alter v set not null; alter table t alter v drop not null; update t set other = id; alter table t alter other set not null; alter table t alter other set default 1',
      ],
      ['a check added', 'alter table t add check (id > 0), add check (n > 0) not valid'],
      [
        'a foreign key, an index and a unique constraint',
        'create table p (id int primary key); alter table t add other_id int references p; create index on t (v); alter table t add unique (v)',
      ],
      [
        'an enum label added, at the end, first and between',
        `alter type mood add value 'new'; alter type mood add value 'first' before 'sad'; alter type mood add value 'mid' after 'sad'`,
      ],
      [
        'types renamed and moved',
        'alter type mood rename to temper; alter domain small set schema public; alter domain public.small rename to tiny; alter domain public.tiny set schema app',
      ],
      ['a domain that gets a constraint', 'alter domain small add check (value >= 0)'],
      [
        'a comment, statistics, storage and options',
        `comment on table t is 'x'; comment on column t.v is 'x'; alter table t alter v set statistics 5, alter v set storage external, set (fillfactor = 50), replica identity full`,
      ],
      ['rights', 'grant select, insert on t to public; grant update (v) on t to public'],
      [
        'an owner',
        `do $$ begin create role tidemark_test_owner; exception when duplicate_object then null; end $$; alter table t owner to tidemark_test_owner`,
      ],
      ['ANALYZE', 'analyze t'],
      ['VACUUM FULL', 'vacuum full t'],
      ['CLUSTER', 'cluster t using t_pkey'],
      ['REINDEX', 'reindex table t'],
      ['a rewrite for other storage', 'alter table t set without cluster'],
      [
        'a change that is rolled back',
        `begin; alter table t add w int default 7; alter table t rename v to vv; alter type mood rename value 'sad' to 'blue'; drop table t; rollback`,
      ],
      [
        'a rule and a statement trigger of the app',
        `create function app.f() returns trigger language plpgsql as 'begin return null; end'; create trigger zz after update on t for each statement execute function app.f(); create rule r as on update to t do also notify nobody`,
      ],
    ])('%s: the next write is told, and start-up finds and tells nothing', async (name, change) => {
      await bed().sql(change)
      if (name === 'an owner') await bed().sql('alter table t owner to current_user; drop role tidemark_test_owner')
      expect(await startUp(bed(), feed)).toEqual(quiet)
      if (!name.startsWith('types')) await isCaptured(bed(), feed)
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('a column added, empty, is only noted: of the feed nothing else is written', async () => {
      const tracked = `${quoted(bed().feedSchema)}.tracked`
      const rows = async (what: string): Promise<unknown> => await bed().sql(`select ${what} from ${tracked}`)
      const before = await rows('xmin::text')
      const rest = await rows(`to_jsonb(tracked) - 'layout' as rest`)
      const objects = `select oid::text, xmin::text from pg_trigger union all select oid::text, xmin::text from pg_proc where proname ~ '^c[0-9]' union all select relname, xmin::text from pg_class where relname = 't' order by 1, 2`
      await bed().sql('alter table t add w text')
      const written = await bed().sql(objects)
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await rows(`to_jsonb(tracked) - 'layout' as rest`)).toEqual(rest)
      expect(await rows(`layout -> 'columns' -> -1 ->> 'name' as name`)).toEqual([{ name: 'w' }])
      expect(await bed().sql(objects)).toEqual(written)
      const noted = await rows('xmin::text')
      expect(noted).not.toEqual(before)
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await rows('xmin::text')).toEqual(noted)
      // What was noted is what later changes are measured by.
      await bed().sql('alter table t rename w to ww')
      expect(await startUp(bed(), feed)).toEqual(changed('column "w" was renamed to "ww"'))
    })

    it('each table that changed is told, and no other', async () => {
      await bed().sql(
        `create table a (id int primary key); create table b (id int primary key); create table c (id int primary key)`,
      )
      const keyed = { tenant: null, key: 'id' } as const
      const many = feedOn(bed(), { t: { tenant: 'tenant', key: 'id' }, a: keyed, b: keyed, c: keyed })
      await many.migrate()
      await bed().sql('alter table a add w int default 7; alter table b add w int; alter table c add w serial')
      expect(await startUp(bed(), many)).toMatchObject({
        findings: [{ table: 'a' }, { table: 'c' }],
        installed: ['a', 'c'],
        told: ['invalidate a', 'invalidate c'],
      })
    })
  })
}
