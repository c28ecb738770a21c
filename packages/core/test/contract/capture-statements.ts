import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'

const ddl = `
  create table tasks (id bigint primary key, tenant_id text not null, title text, done boolean not null default false);
  insert into tasks values (1, 'acme', 'one'), (2, 'acme', 'two'), (3, 'bolt', 'three')`

/** What each kind of statement leaves in the feed (docs/capture.md, "Facts"). */
export function captureStatements(bed: () => Bed): void {
  describe('statements', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
    })
    const by = (...statements: string[]): Promise<string[]> => changesOf(bed(), feed, ...statements)

    it('an insert creates, an update updates, a delete deletes', async () => {
      expect(await by(`insert into tasks values (9, 'acme', 'nine')`)).toEqual(['create tasks 9 @acme'])
      expect(await by(`update tasks set title = 'neuf' where id = 9`)).toEqual(['update tasks 9 @acme'])
      expect(await by(`delete from tasks where id = 9`)).toEqual(['delete tasks 9 @acme'])
    })

    it('a statement over many rows tells each of them once, to its own tenant', async () => {
      expect(
        (
          await by(
            `insert into tasks select g, case g % 2 when 0 then 'acme' else 'bolt' end from generate_series(10, 13) g`,
          )
        ).toSorted(),
      ).toEqual(['create tasks 10 @acme', 'create tasks 11 @bolt', 'create tasks 12 @acme', 'create tasks 13 @bolt'])
      expect((await by(`update tasks set done = true where id <= 3`)).toSorted()).toEqual([
        'update tasks 1 @acme',
        'update tasks 2 @acme',
        'update tasks 3 @bolt',
      ])
      expect((await by(`delete from tasks where id > 9`)).length).toBe(4)
    })

    it('what was there before capture is announced for the whole table, and is followed from then on', async () => {
      expect(await by(`update tasks set title = 'first' where id = 1`, `delete from tasks where id = 3`)).toEqual([
        'update tasks 1 @acme',
        'delete tasks 3 @bolt',
      ])
    })

    it('statements that touch no row leave nothing', async () => {
      expect(
        await by(
          `insert into tasks select 1, 'acme' where false`,
          `update tasks set done = true where false`,
          `delete from tasks where false`,
        ),
      ).toEqual([])
    })

    it('an upsert is an update of what was there and a create of what was not', async () => {
      expect(
        await by(`insert into tasks values (1, 'acme', 'new') on conflict (id) do update set title = excluded.title`),
      ).toEqual(['update tasks 1 @acme'])
      expect(
        (
          await by(
            `insert into tasks values (2, 'acme', 'new'), (4, 'bolt', 'four') on conflict (id) do update set title = excluded.title`,
          )
        ).toSorted(),
      ).toEqual(['create tasks 4 @bolt', 'update tasks 2 @acme'])
    })

    it('ON CONFLICT DO NOTHING leaves nothing for what was there', async () => {
      expect(await by(`insert into tasks values (1, 'acme', 'x'), (5, 'acme', 'five') on conflict do nothing`)).toEqual(
        ['create tasks 5 @acme'],
      )
      expect(
        await by(`insert into tasks values (1, 'acme', 'x') on conflict (id) do update set title = 'x' where false`),
      ).toEqual([])
    })

    it('MERGE is told action by action', async () => {
      const merge = `merge into tasks t using (values (1, 'keep'), (2, 'gone'), (7, 'new')) s(id, title) on t.id = s.id
        when matched and s.title = 'gone' then delete
        when matched then update set title = s.title
        when not matched then insert values (s.id, 'acme', s.title)`
      expect((await by(merge)).toSorted()).toEqual([
        'create tasks 7 @acme',
        'delete tasks 2 @acme',
        'update tasks 1 @acme',
      ])
    })

    it('MERGE that frees a key and uses it again ends with the key present', async () => {
      const merge = `merge into tasks t using (values (1, 'delete'), (99, 'insert')) s(id, act) on t.id = s.id
        when matched then delete when not matched then insert values (1, 'acme', 'again')`
      expect(await by(merge)).toEqual(['delete tasks 1 @acme', 'create tasks 1 @acme'])
    })

    it('MERGE with a DO NOTHING action, and one that changes nothing, leave nothing', async () => {
      expect(
        await by(
          `merge into tasks t using (values (1), (2), (9)) s(id) on t.id = s.id
           when matched and t.id = 1 then do nothing when matched then update set title = t.title when not matched then do nothing`,
        ),
      ).toEqual([])
    })

    it('MERGE with rows not matched by the source', async ({ skip }) => {
      skip(bed().major < 17, 'MERGE … NOT MATCHED BY SOURCE begins with Postgres 17')
      const told = await by(`merge into tasks t using (values (1)) s(id) on t.id = s.id
        when not matched by source then delete when matched then update set title = 'm' returning merge_action()`)
      expect(told.toSorted()).toEqual(['delete tasks 2 @acme', 'delete tasks 3 @bolt', 'update tasks 1 @acme'])
    })

    it('writes of one statement with several data-modifying CTEs are all told', async () => {
      const told =
        await by(`with gone as (delete from tasks where id = 1 returning id), new as (insert into tasks values (8, 'bolt', 'eight') returning id)
        update tasks set done = true where id = 2`)
      expect(told.toSorted()).toEqual(['create tasks 8 @bolt', 'delete tasks 1 @acme', 'update tasks 2 @acme'])
    })

    it('a key that a CTE frees and the statement uses again ends as present', async () => {
      expect(
        await by(
          `with gone as (delete from tasks where id = 1 returning id) insert into tasks select id, 'acme', 'again' from gone`,
        ),
      ).toEqual(['delete tasks 1 @acme', 'create tasks 1 @acme'])
    })

    it('UPDATE … FROM that matches a row twice tells it once', async () => {
      expect(
        await by(`update tasks t set title = v.x from (values (1, 'a'), (1, 'b')) v(id, x) where v.id = t.id`),
      ).toEqual(['update tasks 1 @acme'])
    })

    it('several statements of one transaction are told in their order', async () => {
      const told = await by(
        `begin; insert into tasks values (6, 'acme'); update tasks set done = true where id = 6; delete from tasks where id = 6; insert into tasks values (6, 'bolt'); commit`,
      )
      expect(told).toEqual([
        'create tasks 6 @acme',
        'update tasks 6 @acme',
        'delete tasks 6 @acme',
        'create tasks 6 @bolt',
      ])
    })

    it('what is rolled back, whole or to a savepoint, is not told', async () => {
      const told = await by(
        `begin; insert into tasks values (20, 'acme'); rollback`,
        `begin; insert into tasks values (21, 'acme'); savepoint s; insert into tasks values (22, 'acme'); delete from tasks; rollback to s; insert into tasks values (23, 'acme'); commit`,
      )
      expect(told).toEqual(['create tasks 21 @acme', 'create tasks 23 @acme'])
    })

    it('a statement that fails leaves nothing', async () => {
      const told = await by(
        `do $$ begin insert into tasks values (30, 'acme'), (30, 'acme'); exception when unique_violation then null; end $$`,
      )
      expect(told).toEqual([])
    })

    it('a commit that fails on a deferred constraint leaves nothing', async () => {
      await bed().sql(`alter table tasks add constraint titles unique (title) deferrable initially deferred`)
      expect(
        await changesBy(feed, async () => {
          await expect(bed().sql(`begin; insert into tasks values (31, 'acme', 'one'); commit`)).rejects.toThrow(
            /titles/,
          )
          await bed().sql('rollback')
        }),
      ).toEqual([])
    })

    it('writes through a view, an INSTEAD OF trigger or a rule are told for the table behind it', async () => {
      await bed().sql(`create view open_tasks as select id, tenant_id, title from tasks where not done;
        create view ruled as select id from tasks; create rule gone as on delete to ruled do instead delete from tasks where id = old.id;
        create view shown as select id, title || '!' as loud from tasks;
        create function app.f() returns trigger language plpgsql as $f$ begin
          if tg_op = 'INSERT' then insert into tasks values (new.id, 'bolt', rtrim(new.loud, '!')); return new; end if;
          if tg_op = 'UPDATE' then update tasks set title = rtrim(new.loud, '!') where id = old.id; return new; end if;
          delete from tasks where id = old.id; return old;
        end $f$;
        create trigger instead_of instead of insert or update or delete on shown for each row execute function app.f()`)
      expect(
        await by(
          `update open_tasks set title = 'v' where id = 1`,
          `insert into open_tasks values (4, 'acme', 'four')`,
          `delete from ruled where id = 2`,
          `insert into shown values (5, 'five!')`,
          `update shown set loud = 'one!' where id = 1`,
          `delete from shown where id = 5`,
        ),
      ).toEqual([
        'update tasks 1 @acme',
        'create tasks 4 @acme',
        'delete tasks 2 @acme',
        'create tasks 5 @bolt',
        'update tasks 1 @acme',
        'delete tasks 5 @bolt',
      ])
    })

    it('a rule on the table itself, and one that writes it beside another: what is really written is told', async () => {
      await bed().sql(
        `create rule soft as on delete to tasks do instead update tasks set done = true where id = old.id;
         create table inbox (id int, org text); create rule twice as on insert to inbox do also insert into tasks values (new.id, new.org)`,
      )
      expect(await by('delete from tasks where id = 1', `insert into inbox values (50, 'bolt')`)).toEqual([
        'update tasks 1 @acme',
        'create tasks 50 @bolt',
      ])
    })

    it('reading a materialized view that is refreshed from the table tells nothing', async () => {
      await bed().sql('create materialized view counted as select count(*) from tasks')
      expect(
        await by('refresh materialized view counted', 'select * from tasks for update', 'select * from counted'),
      ).toEqual([])
    })
  })
}
