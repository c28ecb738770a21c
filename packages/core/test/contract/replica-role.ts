import { beforeEach, describe, expect, it } from 'vitest'
import { readChanges, tenant } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'

/** Writes of the replica role, as replication and restore tools make them (docs/capture.md, rule 22). */
export function replicaRole(bed: () => Bed): void {
  describe('the replica role', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(
        bed(),
        `create table tasks (id int primary key, org text not null, v int); create table notes (id int primary key, task int references tasks on delete cascade, org text not null);
         insert into tasks values (1, 'acme'), (2, 'acme'); insert into notes values (1, 1, 'acme')`,
        { tasks: { tenant: 'org', key: 'id' }, notes: { tenant: 'org', key: 'id' } },
      )
    })
    const inReplicaRole = async (...statements: string[]): Promise<void> => {
      await using session = await bed().session({ setup: 'set session_replication_role = replica' })
      for (const statement of statements) await session.sql(statement)
      await session.sql('reset session_replication_role')
    }
    const rows = async (): Promise<unknown> => await bed().sql('select id from tasks order by id')

    it('is captured: insert, update, delete, moves and truncate, singly and in bulk', async () => {
      expect(
        await changesBy(feed, () =>
          inReplicaRole(
            `insert into tasks values (3, 'acme')`,
            `insert into tasks values (4, 'acme'), (5, 'bolt')`,
            `update tasks set v = 1 where id = 3`,
            `update tasks set id = 33 where id = 3`,
            `update tasks set org = 'bolt' where id = 4`,
            `delete from tasks where id = 5`,
            `truncate notes`,
          ),
        ),
      ).toEqual([
        'create tasks 3 @acme',
        'create tasks 4 @acme',
        'create tasks 5 @bolt',
        'update tasks 3 @acme',
        'delete tasks 3 @acme',
        'create tasks 33 @acme',
        'delete tasks 4 @acme',
        'create tasks 4 @bolt',
        'delete tasks 5 @bolt',
        'invalidate notes *',
      ])
      expect(await feed.verify()).toEqual([])
    })

    it('as a control: COPY and cascaded deletes, in the ordinary role', async () => {
      expect(await changesBy(feed, () => bed().copyIn('tasks', '7\tacme\t0\n8\tbolt\t0\n'))).toEqual([
        'create tasks 7 @acme',
        'create tasks 8 @bolt',
      ])
      expect(await changesOf(bed(), feed, 'delete from tasks where id = 1')).toEqual([
        'delete tasks 1 @acme',
        'delete notes 1 @acme',
      ])
    })

    it('is unseen once "enable trigger all" has put the triggers back: verify() says so, and migrate() makes clients read the table anew', async () => {
      const before = await readChanges(feed, tenant('acme'), { since: 'now' })
      if (!('changes' in before)) throw new Error('no page')
      // What restore tools leave behind.
      await bed().sql('alter table tasks disable trigger all; alter table tasks enable trigger all')
      expect(await changesBy(feed, () => inReplicaRole(`insert into tasks values (9, 'acme')`))).toEqual([])
      expect(await rows()).toEqual([{ id: 1 }, { id: 2 }, { id: 9 }])

      expect(await feed.verify()).toEqual([
        {
          code: 'trigger',
          table: 'tasks',
          problem: 'insert trigger is not enabled always',
          remedy: 'run feed.migrate()',
          unseen: true,
        },
      ])
      expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
      expect(await readChanges(feed, tenant('acme'), { since: before.cursor })).toMatchObject({
        changes: [{ table: 'tasks', operation: 'invalidate', key: null }],
        upToDate: true,
      })
      expect(await feed.verify()).toEqual([])
      expect(await changesBy(feed, () => inReplicaRole(`insert into tasks values (10, 'acme')`))).toEqual([
        'create tasks 10 @acme',
      ])
    })

    it('is unseen while triggers are disabled for a restore: found and announced in the same way', async () => {
      await bed().sql('alter table tasks disable trigger all')
      expect(await changesBy(feed, () => bed().copyIn('tasks', '9\tacme\t0\n'))).toEqual([])
      expect(await feed.verify()).toMatchObject([{ code: 'trigger', table: 'tasks', unseen: true }])
      expect(await changesBy(feed, () => feed.migrate())).toEqual(['invalidate tasks *'])
      expect(await changesBy(feed, () => bed().copyIn('tasks', '10\tacme\t0\n'))).toEqual(['create tasks 10 @acme'])
    })
  })
}
