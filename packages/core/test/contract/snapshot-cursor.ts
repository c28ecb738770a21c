import { beforeEach, describe, expect, it } from 'vitest'
import { type Audience, readChanges, tenant } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'

/** What a client starts from: the rows, and the cursor from which it is told of everything that they do not show yet. */
interface Snapshot {
  readonly rows: readonly number[]
  readonly cursor: string
}

/** Rows and cursor `now` of one repeatable read transaction, cursor first or last: both see the same snapshot. */
export async function snapshotOf(feed: AnyFeed, whose: Audience, first: 'rows' | 'cursor' = 'rows'): Promise<Snapshot> {
  return await feed.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      const rows = async (): Promise<number[]> =>
        (await transaction.selectFrom('items').select('id').orderBy('id').execute()).map(({ id }) => id as number)
      const before = first === 'rows' ? await rows() : []
      const page = await readChanges(feed, whose, { since: 'now', transaction })
      if (!('changes' in page)) throw new Error(`no page: ${JSON.stringify(page)}`)
      expect(page).toMatchObject({ changes: [], upToDate: true })
      return { rows: first === 'rows' ? before : await rows(), cursor: page.cursor }
    })
}

/** Keys told after a cursor. */
export async function keysSince(feed: AnyFeed, whose: Audience, since: string): Promise<string[]> {
  const page = await readChanges(feed, whose, { since })
  if (!('changes' in page)) throw new Error(`no page: ${JSON.stringify(page)}`)
  expect(page.upToDate).toBe(true)
  return page.changes.map(({ operation, key }) => `${operation} ${key}`)
}

/** Joining a snapshot of the rows and the feed, as far as one connection can show it: what committed before is in the rows, what comes after in the feed. */
export function snapshotCursor(bed: () => Bed): void {
  describe('a snapshot and its cursor', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), `create table items (id int primary key, org text not null, v int)`, {
        items: { tenant: 'org', key: 'id' },
      })
    })

    it.each(['rows', 'cursor'] as const)('neither miss nor repeat a row: %s first', async (first) => {
      await bed().sql(`insert into items values (1, 'acme'), (2, 'acme'); insert into items values (3, 'acme')`)
      const { rows, cursor } = await snapshotOf(feed, tenant('acme'), first)
      expect(rows).toEqual([1, 2, 3])
      expect(await keysSince(feed, tenant('acme'), cursor)).toEqual([])
      await bed().sql(`insert into items values (4, 'acme'); update items set v = 1 where id = 1`)
      expect(await keysSince(feed, tenant('acme'), cursor)).toEqual(['create 4', 'update 1'])
    })
  })
}
