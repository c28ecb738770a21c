import { beforeEach, describe, expect, it } from 'vitest'
import { readChanges, tenant, untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, feedOn } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'

/** The only call that removes anything. */
export function untracking(bed: () => Bed): void {
  describe('untrack()', () => {
    let feed: AnyFeed
    const tasks = { tenant: 'tenant_id', key: 'id' } as const
    const cities = { tenant: null, key: 'id' } as const
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(
        bed(),
        `create table tasks (id int primary key, tenant_id text not null); create table cities (id int primary key, v int)`,
        { tasks, cities },
      )
    })
    const objects = async (): Promise<unknown> =>
      await bed().sql(
        `select tgname::text as name from pg_trigger where not tgisinternal and tgrelid::regclass::text = 'tasks' union select proname::text from pg_proc p where proname ~ '^c1_' order by 1`,
      )

    it('removes triggers and functions, announces it, and leaves the other tables captured', async () => {
      const rest = feedOn(bed(), { cities })
      expect(await changesBy(rest, () => untrack(feed, 'tasks'))).toEqual([])
      expect(await objects()).toEqual([])
      expect(
        await changesOf(
          bed(),
          rest,
          `insert into tasks values (1, 'acme')`,
          `insert into cities values (1)`,
          `update cities set v = 1`,
          `delete from cities`,
        ),
      ).toEqual(['create cities 1', 'update cities 1', 'delete cities 1'])
      expect(await rest.verify()).toEqual([])
      expect(await feed.verify()).toMatchObject([{ table: 'tasks', problem: 'is not captured' }])
    })

    it('refuses to read the table from then on, by whatever process', async () => {
      await untrack(feed, 'tasks')
      for (const process of [feed, feedOn(bed(), { tasks, cities })]) {
        await expect(readChanges(process, tenant('acme'), { since: 'start' })).rejects.toMatchObject({
          code: 'notMigrated',
        })
        expect(await readChanges(process, tenant('acme'), { since: 'start', tables: ['cities'] })).toMatchObject({
          upToDate: true,
        })
      }
    })

    it('is undone by migrate(), which keeps what the log holds and announces what was unseen', async () => {
      await bed().sql(`insert into tasks values (1, 'acme')`)
      await untrack(feed, 'tasks')
      await bed().sql(`insert into tasks values (2, 'acme')`)
      expect(await feed.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
      await bed().sql(`insert into tasks values (3, 'acme')`)
      const page = await readChanges(feed, tenant('acme'), { since: 'start', tables: ['tasks'] })
      expect('changes' in page && page.changes.map(({ operation, key }) => [operation, key])).toEqual([
        ['invalidate', null],
        ['create', '1'],
        ['invalidate', null],
        ['invalidate', null],
        ['create', '3'],
      ])
    })

    it('may be called again, and after the table was dropped', async () => {
      await untrack(feed, 'tasks')
      await untrack(feed, 'tasks')
      await bed().sql('drop table cities')
      await untrack(feed, 'cities')
      expect(await bed().sql(`select proname::text from pg_proc where proname ~ '^c[0-9]+_[cudt]$'`)).toEqual([])
    })

    it('frees the table for another name', async () => {
      await untrack(feed, 'tasks')
      const other = feedOn(bed(), { 'app.tasks': tasks, cities })
      expect(await other.migrate()).toEqual({ migrations: [], installed: ['app.tasks'] })
      expect(await changesOf(bed(), other, `insert into tasks values (1, 'acme')`)).toEqual([
        'create app.tasks 1 @acme',
      ])
    })

    it('refuses tables that are not declared or were never tracked', async () => {
      await expect(untrack(feed, 'nope')).rejects.toMatchObject({ code: 'unknownTable' })
      await bed().sql('create table fresh (id int primary key)')
      await expect(untrack(feedOn(bed(), { fresh: cities }), 'fresh')).rejects.toMatchObject({ code: 'unknownTable' })
    })
  })
}
