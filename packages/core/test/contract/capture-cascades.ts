import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'

/** What foreign keys write by themselves. */
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
      expect((await changesOf(bed(), feed, 'delete from tasks where id = 1')).toSorted()).toEqual([
        'delete notes 1 @acme',
        'delete notes 2 @acme',
        'delete tasks 1 @acme',
      ])
    })

    it('ON DELETE SET NULL tells the children as updated', async () => {
      const feed = await capture(bed(), tables('on delete set null'), declared)
      expect((await changesOf(bed(), feed, 'delete from tasks where id = 1')).toSorted()).toEqual([
        'delete tasks 1 @acme',
        'update notes 1 @acme',
        'update notes 2 @acme',
      ])
    })

    it('ON UPDATE CASCADE tells the moved parent and the updated children', async () => {
      const feed = await capture(bed(), tables('on update cascade'), declared)
      expect((await changesOf(bed(), feed, 'update tasks set id = 9 where id = 1')).toSorted()).toEqual([
        'create tasks 9 @acme',
        'delete tasks 1 @acme',
        'update notes 1 @acme',
        'update notes 2 @acme',
      ])
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

    it('a row reached by two cascading foreign keys is told, and never as deleted', async () => {
      const feed = await capture(
        bed(),
        `create table people (id int primary key); create table pairs (id int primary key, a int references people on update cascade, b int references people on update cascade);
         insert into people values (1), (2); insert into pairs values (1, 1, 1), (2, 1, 2)`,
        { pairs: { tenant: null, key: 'id' } },
      )
      const told = await changesOf(bed(), feed, 'update people set id = id + 10')
      expect(new Set(told)).toEqual(new Set(['update pairs 1', 'update pairs 2']))
    })
  })
}
