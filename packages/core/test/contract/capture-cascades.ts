import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture } from '../support/bed.ts'
import { changesOf, entriesOf, lastWords } from '../support/changes.ts'

/** What foreign keys write by themselves. The parent is told before its children, whatever the level. */
export function captureCascades(bed: () => Bed): void {
  describe('cascades', () => {
    beforeEach(() => bed().reset())
    const tables = (action: string): string => `
      create table tasks (id int primary key, tenant_id text not null);
      create table notes (id int primary key, task int references tasks ${action}, tenant_id text not null);
      insert into tasks values (1, 'acme'), (2, 'acme'); insert into notes values (1, 1, 'acme'), (2, 1, 'acme'), (3, 2, 'acme')`
    const declared = { tasks: { tenant: 'tenant_id', key: 'id' }, notes: { tenant: 'tenant_id', key: 'id' } } as const

    it('ON DELETE CASCADE tells the parent and each child', async () => {
      const feed = await capture(bed(), tables('on delete cascade'), declared)
      const told = await changesOf(bed(), feed, 'delete from tasks where id = 1')
      expect(told[0]).toBe('delete tasks 1 @acme')
      expect(told.slice(1).toSorted()).toEqual(['delete notes 1 @acme', 'delete notes 2 @acme'])
      const rest = await changesOf(bed(), feed, `insert into tasks values (5, 'acme')`, 'delete from tasks')
      expect(rest.slice(1, 3).toSorted()).toEqual(['delete tasks 2 @acme', 'delete tasks 5 @acme'])
      expect(rest.slice(3)).toEqual(['delete notes 3 @acme'])
    })

    it('ON DELETE SET NULL tells the children as updated', async () => {
      const feed = await capture(bed(), tables('on delete set null'), declared)
      const told = await changesOf(bed(), feed, 'delete from tasks where id = 1')
      expect(told[0]).toBe('delete tasks 1 @acme')
      expect(told.slice(1).toSorted()).toEqual(['update notes 1 @acme', 'update notes 2 @acme'])
    })

    it('ON UPDATE CASCADE tells the moved parent and the updated children', async () => {
      const feed = await capture(bed(), tables('on update cascade'), declared)
      const told = await changesOf(bed(), feed, 'update tasks set id = 9 where id = 1')
      expect(told.slice(0, 2)).toEqual(['delete tasks 1 @acme', 'create tasks 9 @acme'])
      expect(told.slice(2).toSorted()).toEqual(['update notes 1 @acme', 'update notes 2 @acme'])
    })

    it('a cascade into the key of the child moves the child', async () => {
      const feed = await capture(
        bed(),
        `create table tasks (id int primary key, tenant_id text not null); create table notes (task int references tasks on update cascade, n int, tenant_id text not null, primary key (task, n));
         insert into tasks values (1, 'acme'); insert into notes values (1, 1, 'acme')`,
        { ...declared, notes: { tenant: 'tenant_id', key: ['task', 'n'] } },
      )
      expect((await changesOf(bed(), feed, 'update tasks set id = 9')).toSorted()).toEqual([
        'create notes ["9","1"] @acme',
        'create tasks 9 @acme',
        'delete notes ["1","1"] @acme',
        'delete tasks 1 @acme',
      ])
    })

    it('a tree that refers to itself is told down to its leaves', async () => {
      const feed = await capture(
        bed(),
        `create table nodes (id int primary key, parent int references nodes on delete cascade); insert into nodes values (1, null), (2, 1), (3, 2), (4, 3), (5, null)`,
        { nodes: { tenant: null, key: 'id' } },
      )
      expect((await changesOf(bed(), feed, 'delete from nodes where id = 1')).toSorted()).toEqual([
        'delete nodes 1',
        'delete nodes 2',
        'delete nodes 3',
        'delete nodes 4',
      ])
    })

    const people = `create table people (id int primary key);
      create table pairs (id int primary key, a int references people on update cascade, b int references people on update cascade);
      insert into people values (1), (2); insert into pairs values (1, 1, 1), (2, 1, 2)`

    it('a row reached by two cascading foreign keys is told, perhaps twice, and never as deleted', async () => {
      const feed = await capture(bed(), people, { pairs: { tenant: null, key: 'id' } })
      const told = await changesOf(bed(), feed, 'update people set id = id + 10')
      expect(new Set(told)).toEqual(new Set(['update pairs 1', 'update pairs 2']))
    })

    it('a row moved twice by two cascading foreign keys leaves its old scope and is present in its new one', async () => {
      await capture(bed(), people, { pairs: { tenant: null, key: 'id', scopes: ['a', 'b'] } })
      const last = new Map<string, string>()
      for (const { op, scopes, keys } of await entriesOf(bed(), 'update people set id = id + 10')) {
        for (const key of keys ?? []) last.set(`${key} in ${scopes?.join()}`, op)
      }
      const present = expect.stringMatching(/[cu]/)
      expect(Object.fromEntries(last)).toMatchObject({
        '1 in 1,1': 'd',
        '1 in 11,11': present,
        '2 in 1,2': 'd',
        '2 in 11,12': present,
      })
      for (const [where, op] of last)
        if (!/ in (1,1|1,2|11,11|11,12)$/.test(where)) expect([where, op]).toEqual([where, 'd'])
    })

    it('a row that one foreign key deletes and another one updates is told as deleted in the end', async () => {
      const feed = await capture(
        bed(),
        `create table people (id int primary key); insert into people values (1), (2);
         create table pairs (id int primary key, a int references people on delete cascade, b int references people on delete set null);
         insert into pairs values (1, 1, 2), (2, 2, 1), (3, 1, 1), (4, null, 1)`,
        { pairs: { tenant: null, key: 'id' } },
      )
      const told = await changesOf(bed(), feed, 'delete from people')
      expect(await bed().sql('select id from pairs')).toEqual([{ id: 4 }])
      expect(lastWords(told)).toEqual(['pairs 1 deleted', 'pairs 2 deleted', 'pairs 3 deleted', 'pairs 4 present'])
    })

    it("a cascade beside the app's own row trigger with row sets, which fires it in parts, loses nothing", async () => {
      const feed = await capture(
        bed(),
        `${tables('on delete cascade')}; insert into notes select g, 2, 'acme' from generate_series(10, 20) g;
         create table seen (n int); create function app.f() returns trigger language plpgsql as $f$ begin insert into seen select count(*) from gone; return null; end $f$;
         create trigger parts after delete on notes referencing old table as gone for each row execute function app.f()`,
        { tasks: declared.tasks, notes: { ...declared.notes, capture: bed().level } },
      )
      const told = await changesOf(bed(), feed, 'delete from tasks')
      expect(told.filter((change) => change.includes('tasks')).toSorted()).toEqual([
        'delete tasks 1 @acme',
        'delete tasks 2 @acme',
      ])
      expect(told.filter((change) => change.includes('notes')).toSorted()).toEqual(
        [1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20].map((id) => `delete notes ${id} @acme`).toSorted(),
      )
    })
  })
}
