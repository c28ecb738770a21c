import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, feedOn } from '../support/bed.ts'
import { changesOf, changesSince, entriesOf, now } from '../support/changes.ts'

/** The app's own triggers, row security and replica role beside capture. */
export function appTriggers(bed: () => Bed): void {
  describe('beside the app', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(
        bed(),
        `create table tasks (id int primary key, tenant_id text not null, v int, lower_v text); insert into tasks values (1, 'acme', 1), (2, 'acme', 2)`,
        { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['v'] } },
      )
    })
    const trigger = (when: string, body: string): string =>
      `create function app.f() returns trigger language plpgsql as $f$ begin ${body} end $f$; create trigger a_first ${when} on tasks for each row execute function app.f()`

    it('a BEFORE trigger that changes the row: what is stored is told', async () => {
      await bed().sql(
        trigger('before insert or update', `new.tenant_id := lower(new.tenant_id); new.v := new.v * 10; return new;`),
      )
      expect(
        (await entriesOf(bed(), `insert into tasks values (3, 'BOLT', 3)`)).map(({ tenant, scopes }) => [
          tenant,
          scopes,
        ]),
      ).toEqual([['bolt', ['30']]])
      expect(await changesOf(bed(), feed, `update tasks set tenant_id = 'ACME', v = 1 where id = 1`)).toEqual([
        'delete tasks 1 @acme',
        'create tasks 1 @acme',
      ])
    })

    it('a BEFORE trigger that undoes the change: nothing is told', async () => {
      await bed().sql(trigger('before update', `return old;`))
      expect(await changesOf(bed(), feed, `update tasks set v = 100 where id = 1`, `update tasks set v = 100`)).toEqual(
        [],
      )
    })

    it('a BEFORE trigger that cancels some rows: the others are told', async () => {
      await bed().sql(
        trigger(
          'before insert or update or delete',
          `if coalesce(new.id, old.id) % 2 = 0 then return null; end if; return coalesce(new, old);`,
        ),
      )
      expect(await changesOf(bed(), feed, `update tasks set lower_v = 'x'`)).toEqual(['update tasks 1 @acme'])
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into tasks values (3, 'acme'), (4, 'acme')`,
          `insert into tasks values (6, 'acme')`,
        ),
      ).toEqual(['create tasks 3 @acme'])
      expect((await changesOf(bed(), feed, `delete from tasks`)).toSorted()).toEqual([
        'delete tasks 1 @acme',
        'delete tasks 3 @acme',
      ])
    })

    it('an AFTER ROW trigger that writes other tables changes nothing', async () => {
      await bed().sql(`create table history (n int generated always as identity primary key, id int, v int)`)
      await bed().sql(trigger('after insert', `insert into history (id, v) values (new.id, new.v); return null;`))
      expect(await changesOf(bed(), feed, `insert into tasks values (3, 'acme', 3)`)).toEqual(['create tasks 3 @acme'])
    })

    it('a statement trigger of the app fires after capture, whatever it is called', async () => {
      await bed()
        .sql(`create function app.f() returns trigger language plpgsql as $f$ begin update tasks set lower_v = 'after' where id = 3; return null; end $f$;
        create trigger "#first" after insert on tasks for each statement execute function app.f()`)
      expect(await changesOf(bed(), feed, `insert into tasks values (3, 'acme', 3)`)).toEqual([
        'create tasks 3 @acme',
        'update tasks 3 @acme',
      ])
    })

    it('writes of the replica role are captured, singly and in bulk', async () => {
      await using session = await bed().session({ setup: 'set session_replication_role = replica' })
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      expect(
        await changesOf(
          on,
          feed,
          `insert into tasks values (3, 'acme')`,
          `update tasks set lower_v = 'r' where id = 3`,
          `delete from tasks where id = 3`,
          `truncate tasks`,
        ),
      ).toEqual(['create tasks 3 @acme', 'update tasks 3 @acme', 'delete tasks 3 @acme', 'invalidate tasks *'])
    })

    it('row security hides nothing from capture, not even when it is forced and lets nothing be read', async () => {
      await bed()
        .sql(`drop role if exists tidemark_test_rls; create role tidemark_test_rls; grant usage on schema app to tidemark_test_rls; grant insert, update, delete on tasks to tidemark_test_rls;
        alter table tasks enable row level security, force row level security;
        create policy writes on tasks for insert with check (true); create policy nothing on tasks for select using (false); create policy changes on tasks for update using (true) with check (true); create policy goes on tasks for delete using (true)`)
      const since = await now(feed)
      {
        await using session = await bed().session({ role: 'tidemark_test_rls' })
        await session.sql(`insert into tasks values (3, 'acme', 3)`)
        await session.sql(`insert into tasks values (4, 'acme', 3), (5, 'bolt', 3)`)
        await session.sql(`update tasks set lower_v = 'x'`)
        await session.sql(`delete from tasks`)
      }
      await bed().sql('drop owned by tidemark_test_rls; drop role tidemark_test_rls')
      const told = await changesSince(feed, since)
      expect(told.slice(0, 3).toSorted()).toEqual([
        'create tasks 3 @acme',
        'create tasks 4 @acme',
        'create tasks 5 @bolt',
      ])
      const all = ['1 @acme', '2 @acme', '3 @acme', '4 @acme', '5 @bolt']
      expect(told.slice(3, 8).toSorted()).toEqual(all.map((key) => `update tasks ${key}`))
      expect(told.slice(8).toSorted()).toEqual(all.map((key) => `delete tasks ${key}`))
    })

    it.each(['row', 'statement'] as const)(
      'two feeds on one table each get every write: the other one by %s',
      async (capture) => {
        const other = feedOn(bed(), { tasks: { tenant: null, key: 'id', capture } }, { schema: 'other feed' })
        await other.migrate()
        try {
          const writes = [
            `insert into tasks values (3, 'acme', 0)`,
            `update tasks set lower_v = 'x' where id = 1`,
            `update tasks set id = 9 where id = 3`,
            `delete from tasks where id = 9`,
          ]
          const since = await now(other)
          const changes = ['create 3', 'update 1', 'delete 3', 'create 9', 'delete 9']
          expect(await changesOf(bed(), feed, ...writes)).toEqual(
            changes.map((change) => change.replace(' ', ' tasks ').replace(/([0-9])$/, '$1 @acme')),
          )
          expect(await changesSince(other, since)).toEqual(changes.map((change) => change.replace(' ', ' tasks ')))
          // Neither takes the other's triggers for the app's.
          expect(await feed.verify()).toEqual([])
          expect(await other.verify()).toEqual([])
          const before = await now(other)
          expect(await changesOf(bed(), feed, 'truncate tasks')).toEqual(['invalidate tasks *'])
          expect(await changesSince(other, before)).toEqual(['invalidate tasks *'])
        } finally {
          await bed().sql('drop schema "other feed" cascade')
        }
        expect(await changesOf(bed(), feed, `insert into tasks values (4, 'acme', 0)`)).toEqual([
          'create tasks 4 @acme',
        ])
      },
    )
  })
}
