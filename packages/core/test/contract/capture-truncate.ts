import { beforeEach, describe, expect, it } from 'vitest'
import { globalOnly, readChanges, tenant } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, now } from '../support/changes.ts'

/** TRUNCATE is one table-level entry that every audience of the table reads (docs/capture.md, rule 17). */
export function captureTruncate(bed: () => Bed): void {
  describe('truncate', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(
        bed(),
        `create table tasks (id int primary key, tenant_id text not null); create table notes (id int primary key, task int references tasks, tenant_id text not null);
         insert into tasks values (1, 'acme'), (2, 'bolt'); insert into notes values (1, 1, 'acme')`,
        { tasks: { tenant: 'tenant_id', key: 'id' }, notes: { tenant: 'tenant_id', key: 'id' } },
      )
    })

    it('invalidates the whole table, once', async () => {
      expect(await changesOf(bed(), feed, 'truncate notes')).toEqual(['invalidate notes *'])
      expect(await changesOf(bed(), feed, 'truncate notes')).toEqual(['invalidate notes *'])
    })

    it('invalidates every table it reaches by CASCADE', async () => {
      expect((await changesOf(bed(), feed, 'truncate tasks restart identity cascade')).toSorted()).toEqual([
        'invalidate notes *',
        'invalidate tasks *',
      ])
    })

    it('is read by every tenant', async () => {
      const since = await now(feed)
      const cursors = await Promise.all(
        [tenant('acme'), tenant('bolt'), tenant('nobody')].map(async (who) => ({
          who,
          page: await readChanges(feed, who, { since: 'now' }),
        })),
      )
      await bed().sql('truncate notes')
      for (const { who, page } of cursors) {
        if (!('changes' in page)) throw new Error('no page')
        const after = await readChanges(feed, who, { since: page.cursor })
        expect(after).toMatchObject({ changes: [{ table: 'notes', operation: 'invalidate', key: null, tenant: null }] })
      }
      expect(since).not.toBe(await now(feed))
      expect(await readChanges(feed, globalOnly, { since: 'start', tables: ['notes'] })).toMatchObject({
        upToDate: true,
      })
    })

    it('stands in order with the writes around it, and is undone by a rollback', async () => {
      expect(
        await changesOf(
          bed(),
          feed,
          `begin; truncate notes; insert into notes values (1, null, 'bolt'); commit`,
          `begin; truncate notes; rollback`,
        ),
      ).toEqual(['invalidate notes *', 'create notes 1 @bolt'])
    })
  })
}
