import { beforeEach, describe, expect, it } from 'vitest'
import { type FindingCode, untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, quoted } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'

const ddl = 'create table tasks (id int primary key, tenant_id text not null, v int)'

/** Damage to installed capture is found by verify() and mended, and announced, by migrate() (docs/capture.md, rules 22, 26). */
export function mending(bed: () => Bed): void {
  describe('mending', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      await bed().sql(`insert into tasks values (1, 'acme', 0)`)
    })
    const trigger = (operation: string): string => quoted(`!${bed().feedSchema}_${operation}`)
    const fn = (operation: string): string => `${quoted(bed().feedSchema)}.c1_${operation}()`
    const execute = (operation: string): string =>
      `execute function ${fn(operation)}; alter table tasks enable always trigger ${trigger(operation)}`
    const replaced = (clauses: string): string => `create or replace trigger ${trigger('u')} ${clauses} ${execute('u')}`
    const byRow = (): boolean => bed().level === 'row'
    const changed = 'when (old.* operator(pg_catalog.*<>) new.*)'
    const asItWas = (): string =>
      byRow()
        ? `after update on tasks for each row ${changed}`
        : 'after update on tasks referencing old table as tidemark_o new table as tidemark_n for each statement'

    const damages: readonly (readonly [string, () => string, FindingCode, string])[] = [
      [
        'a disabled trigger',
        () => `alter table tasks disable trigger ${trigger('u')}`,
        'trigger',
        'update trigger is not enabled always',
      ],
      [
        'all triggers disabled',
        () => `alter table tasks disable trigger all`,
        'trigger',
        'insert trigger is not enabled always',
      ],
      [
        '"enable trigger all", which puts them back to origin',
        () => `alter table tasks enable trigger all`,
        'trigger',
        'insert trigger is not enabled always',
      ],
      [
        'a trigger enabled for replicas only',
        () => `alter table tasks enable replica trigger ${trigger('d')}`,
        'trigger',
        'delete trigger is not enabled always',
      ],
      ['a dropped trigger', () => `drop trigger ${trigger('t')} on tasks`, 'trigger', 'truncate trigger is missing'],
      ['a dropped function', () => `drop function ${fn('c')} cascade`, 'trigger', 'insert trigger is missing'],
      [
        'a renamed trigger',
        () => `alter trigger ${trigger('d')} on tasks rename to zzz`,
        'trigger',
        'delete trigger is missing',
      ],
      [
        'a trigger with a condition',
        () => replaced(byRow() ? 'after update on tasks for each row when (false)' : `${asItWas()} when (false)`),
        'trigger',
        'update trigger was altered',
      ],
      [
        'a trigger for one column only',
        () =>
          replaced(
            byRow()
              ? `after update of v on tasks for each row ${changed}`
              : 'after update of v on tasks for each statement',
          ),
        'trigger',
        'update trigger was altered',
      ],
      [
        'a trigger for rows that does not look whether they changed, or looks in another way',
        () => replaced(`after update on tasks for each row when (old.v is distinct from new.v)`),
        'trigger',
        'update trigger was altered',
      ],
      [
        'a trigger for another event',
        () => replaced(`after insert on tasks for each ${byRow() ? 'row' : 'statement'}`),
        'trigger',
        'update trigger was altered',
      ],
      [
        'a truncate trigger that fires before',
        () => `create or replace trigger ${trigger('t')} before truncate on tasks for each statement ${execute('t')}`,
        'trigger',
        'truncate trigger was altered',
      ],
      [
        'a delete trigger that fires before',
        () => `create or replace trigger ${trigger('d')} before delete on tasks for each row ${execute('d')}`,
        'trigger',
        'delete trigger was altered',
      ],
      [
        'a trigger that calls another function',
        () => replaced(asItWas()).replace(fn('u'), fn('t')),
        'trigger',
        'update trigger was altered',
      ],
      [
        'another function body',
        () =>
          `create or replace function ${fn('u')} returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return null; end'`,
        'function',
        'update trigger has another function',
      ],
      [
        'a function with the rights of whoever writes',
        () => `alter function ${fn('u')} security invoker`,
        'function',
        'update trigger has a function with other rights',
      ],
      [
        'a function under the path of whoever writes',
        () => `alter function ${fn('u')} reset search_path`,
        'function',
        'update trigger has a function with other rights',
      ],
      [
        'a function under a path that was added to',
        () => `alter function ${fn('u')} set search_path = app, pg_catalog, pg_temp`,
        'function',
        'update trigger has a function with other rights',
      ],
      [
        'a function of another owner',
        () => `alter function ${fn('u')} owner to current_user`,
        'function',
        'update trigger has a function with other rights',
      ],
      [
        'a table dropped and created again',
        () => `drop table tasks; ${ddl}`,
        'tableReplaced',
        'was dropped and created again',
      ],
      [
        'a table created again like the old one',
        () => `create table copy (like tasks including all); drop table tasks; alter table copy rename to tasks`,
        'tableReplaced',
        'was dropped and created again',
      ],
    ]
    const repair = async (code: FindingCode, problem: string): Promise<void> => {
      expect(await feed.verify()).toEqual([
        { code, table: 'tasks', problem: expect.stringContaining(problem), remedy: 'run feed.migrate()', unseen: true },
      ])
      expect(
        await changesBy(feed, async () => {
          expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
        }),
      ).toEqual(['invalidate tasks *'])
      expect(await feed.verify()).toEqual([])
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into tasks values (2, 'acme')`,
          `update tasks set v = 9 where id = 2`,
          `update tasks set v = 9 where id = 2`,
          `delete from tasks where id = 2`,
          `truncate tasks`,
        ),
      ).toEqual(['create tasks 2 @acme', 'update tasks 2 @acme', 'delete tasks 2 @acme', 'invalidate tasks *'])
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
    }
    it.each(damages)('%s', async (_, damage, code, problem) => {
      await bed().sql(damage())
      await repair(code, problem)
    })

    it.each([
      [
        'a delete trigger whose row set is named otherwise',
        () =>
          `create or replace trigger ${trigger('d')} after delete on tasks referencing old table as was for each statement ${execute('d')}`,
        'delete trigger was altered',
      ],
      [
        'a trigger whose row sets are named otherwise',
        () => replaced('after update on tasks referencing old table as was new table as became for each statement'),
        'update trigger was altered',
      ],
    ])('%s', async (_, damage, problem) => {
      await bed().sql(damage())
      // Where row triggers are wanted, statement triggers of whatever kind are in the wrong place.
      await repair('trigger', problem)
    })

    it('a trigger that was copied under another name tells each write again: it is removed, and untrack() leaves none', async () => {
      const copy = async (): Promise<void> => {
        await bed().sql(
          `create trigger zzz after delete on tasks ${byRow() ? '' : 'referencing old table as tidemark_o '}for each ${byRow() ? 'row' : 'statement'} ${execute('d').split(';')[0]}`,
        )
      }
      await copy()
      expect(await feed.verify()).toMatchObject([
        { code: 'trigger', problem: expect.stringContaining('"zzz"'), unseen: false },
      ])
      expect(await changesBy(feed, () => feed.migrate())).toEqual([])
      expect(await feed.verify()).toEqual([])
      expect(await changesOf(bed(), feed, 'delete from tasks')).toEqual(['delete tasks 1 @acme'])
      await copy()
      await untrack(feed, 'tasks')
      expect(await bed().sql(`select tgname from pg_trigger where tgrelid = 'tasks'::regclass`)).toEqual([])
    })

    it('a function that everyone may execute hid nothing: it is mended without an announcement', async () => {
      await bed().sql(`grant execute on function ${fn('u')} to public`)
      expect(await feed.verify()).toMatchObject([
        { code: 'function', problem: expect.stringContaining('everyone may attach'), unseen: false },
      ])
      expect(await changesBy(feed, () => feed.migrate())).toEqual([])
      expect(await feed.verify()).toEqual([])
    })

    it('a table that was renamed and replaced: the old one no longer writes under the name of the new one', async () => {
      await bed().sql(
        `alter table tasks rename to tasks_old; create table tasks (uuid uuid, id int primary key, tenant_id text not null, v int)`,
      )
      expect(await feed.migrate()).toMatchObject({ installed: ['tasks'] })
      expect(
        await changesOf(
          bed(),
          feed,
          `update tasks_old set v = 5`,
          `delete from tasks_old`,
          `truncate tasks_old`,
          `insert into tasks values (null, 7, 'bolt')`,
        ),
      ).toEqual(['create tasks 7 @bolt'])
      expect(await feed.verify()).toEqual([])
    })

    it('a table that was dropped and is gone: verify() names it, migrate() refuses, and the name can be used again', async () => {
      await bed().sql('drop table tasks')
      expect(await feed.verify()).toMatchObject([
        { table: 'tasks', problem: expect.stringContaining('does not exist') },
      ])
      await expect(feed.migrate()).rejects.toMatchObject({ code: 'unsupportedTable', table: 'tasks' })
      await bed().sql(ddl)
      await feed.migrate()
      expect(await changesOf(bed(), feed, `insert into tasks values (1, 'acme')`)).toEqual(['create tasks 1 @acme'])
    })
  })
}
