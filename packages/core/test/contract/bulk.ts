import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture } from '../support/bed.ts'
import { changesBy, entriesOf, type LoggedEntry } from '../support/changes.ts'

const sizes = (entries: readonly LoggedEntry[]): number[] => entries.map(({ n }) => n).toSorted((a, b) => b - a)

/** Statements over many rows: bounded entries, grouped by tenant (docs/capture.md, rule 11); with row triggers one entry for each row. */
export function bulk(bed: () => Bed): void {
  describe('bulk', () => {
    beforeEach(() => bed().reset())
    const declared = { tasks: { tenant: 'tenant_id', key: 'id' } } as const
    const ddl = 'create table tasks (id int primary key, tenant_id text not null, v int)'

    it.each([
      [999, [999]],
      [1000, [1000]],
      [1001, [1000, 1]],
      [2500, [1000, 1000, 500]],
    ])('%i rows of one tenant stand in entries of at most 1,000 keys', async (rows, grouped) => {
      await capture(bed(), ddl, declared)
      const expected = bed().level === 'row' ? Array.from({ length: rows }, () => 1) : grouped
      for (const statement of [
        `insert into tasks select g, 'acme' from generate_series(1, ${rows}) g`,
        'update tasks set v = 1',
        'update tasks set v = 1',
        'delete from tasks',
      ]) {
        const entries = await entriesOf(bed(), statement)
        if (entries.length === 0) {
          expect(statement).toBe('update tasks set v = 1')
          continue
        }
        expect(sizes(entries)).toEqual(expected)
        const keys = entries.flatMap((entry) => entry.keys ?? [])
        expect(new Set(keys).size).toBe(rows)
        expect(entries.every(({ keys, n }) => keys?.length === n)).toBe(true)
      }
    })

    it('rows of many tenants in mixed order stand in one entry for each tenant', async () => {
      await capture(bed(), ddl, declared)
      const entries = await entriesOf(
        bed(),
        `insert into tasks select g, 't' || g % 30 from generate_series(1, 6000) g`,
      )
      const updated = await entriesOf(
        bed(),
        `update tasks set v = 1, tenant_id = 't' || (id + 1) % 30 where id <= 3000`,
      )
      const ofTenants = (list: readonly LoggedEntry[], op: string): number[] => {
        const keys = new Map<string | null, number>()
        for (const { tenant, n } of list.filter((entry) => entry.op === op))
          keys.set(tenant, (keys.get(tenant) ?? 0) + n)
        return [...keys.values()]
      }
      expect(ofTenants(entries, 'c')).toEqual(Array.from({ length: 30 }, () => 200))
      expect(ofTenants(updated, 'd')).toEqual(Array.from({ length: 30 }, () => 100))
      expect(ofTenants(updated, 'c')).toEqual(Array.from({ length: 30 }, () => 100))
      if (bed().level === 'row') {
        expect(entries.length).toBe(6000)
        expect(updated.map(({ op }) => op)).toEqual(Array.from({ length: 3000 }, () => ['d', 'c']).flat())
      } else {
        expect(entries.length).toBe(30)
        expect(updated.map(({ op }) => op)).toEqual([
          ...Array.from({ length: 30 }, () => 'd'),
          ...Array.from({ length: 30 }, () => 'c'),
        ])
      }
    })

    it('COPY is told like any insert', async () => {
      const feed = await capture(bed(), ddl, declared)
      const lines = Array.from({ length: 1500 }, (_, i) => `${i}\t${i === 7 ? 'bolt' : 'acme'}\t0\n`)
      const told = await changesBy(feed, () => bed().copyIn('tasks', lines.join('')))
      expect(told.toSorted()).toEqual(lines.map((_, i) => `create tasks ${i} @${i === 7 ? 'bolt' : 'acme'}`).toSorted())
      expect(await changesBy(feed, () => bed().copyIn('tasks', ''))).toEqual([])
      await expect(bed().copyIn('tasks', '1\tacme\t0\n')).rejects.toMatchObject({ code: '23505' })
    })

    it('reading gives every key once, whatever the page size', async () => {
      const feed = await capture(bed(), ddl, declared)
      const told = await changesBy(feed, () =>
        bed().sql(`insert into tasks select g, 'acme' from generate_series(1, 7001) g`),
      )
      expect(new Set(told).size).toBe(7001)
      expect(told.length).toBe(7001)
    })
  })
}
