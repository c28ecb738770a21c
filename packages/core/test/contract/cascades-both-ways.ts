import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture, feedOn } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'

// A statement that deletes two parents can first update a child by one foreign key and then delete it by the other. Postgres fires the child's statement
// triggers in the other order, so such tables get row triggers.

const ddl = `create table users (id int primary key, tenant_id text not null);
  create table tasks (id int primary key, tenant_id text not null, owner int references users on delete cascade, helper int references users on delete set null);
  insert into users values (1, 'acme'), (2, 'acme'); insert into tasks values (7, 'acme', 2, 1)`
const declared = {
  users: { tenant: 'tenant_id', key: 'id' },
  tasks: { tenant: 'tenant_id', key: 'id' },
} as const

export function cascadesBothWays(bed: () => Bed): void {
  describe('foreign keys that delete and foreign keys that update', () => {
    beforeEach(() => bed().reset())

    it('of a row that both reach, the delete is told last', async () => {
      const feed = await capture(bed(), ddl, declared)
      const told = await changesOf(bed(), feed, 'delete from users')
      expect(told.filter((change) => change.includes('tasks')).at(-1)).toBe('delete tasks 7 @acme')
      expect(await bed().sql('select id from tasks')).toEqual([])
    })

    it('a foreign key that comes later calls for row triggers, and so does SET DEFAULT', async () => {
      await bed().sql(
        `create table users (id int primary key); create table tasks (id int primary key, owner int references users on delete cascade, helper int default 0)`,
      )
      const feed = feedOn(bed(), { tasks: { tenant: null, key: 'id' } })
      await feed.migrate()
      await bed().sql('alter table tasks add foreign key (helper) references users on delete set default')
      if (bed().level === 'statement') {
        expect(await feed.verify()).toMatchObject([
          { code: 'level', problem: expect.stringContaining('foreign keys'), unseen: false },
        ])
        expect(await feed.migrate()).toMatchObject({ installed: ['tasks'] })
      }
      expect(await feed.verify()).toEqual([])
    })

    it('with several that delete, or several that update, nothing is amiss', async () => {
      await bed().sql(
        `create table users (id int primary key); create table a (id int primary key, u int references users on delete cascade, v int references users on delete cascade);
         create table b (id int primary key, u int references users on delete set null, v int references users)`,
      )
      const feed = feedOn(bed(), { a: { tenant: null, key: 'id' }, b: { tenant: null, key: 'id' } })
      await feed.migrate()
      const [row] = await bed().sql(
        `select count(*)::int as n from pg_trigger where tgname like '!%' and tgtype & 1 = 1 and tgrelid in ('a'::regclass, 'b'::regclass)`,
      )
      expect(row).toEqual({ n: bed().level === 'row' ? 6 : 0 })
    })
  })
}
