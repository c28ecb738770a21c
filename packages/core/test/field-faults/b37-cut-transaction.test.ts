import { expect, it } from 'vitest'
import { readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page, readAll } from '../read/support.ts'

// B37: the page limit cuts a transaction, or a group with one position, and the rest is skipped.
it.each([
  ['one statement', `insert into item select g, 'acme' from generate_series(1, 25) g`],
  ['25 statements', `do $$ begin for i in 1..25 loop insert into item values (i, 'acme'); end loop; end $$`],
])('goes on inside a transaction of 25 rows written by %s', async (_, write) => {
  await using at = await openReadFeed()
  const since = page(await readChanges(at.feed, tenant('acme'), { since: 'now' })).cursor
  await at.run(write)
  const first = page(await readChanges(at.feed, tenant('acme'), { since, limit: 10 }))
  expect(first).toMatchObject({ hasMore: true, upToDate: false })
  expect(first.changes).toHaveLength(10)
  // The reader stops here, others write, another process answers when it comes back.
  await at.run(`insert into item values (26, 'acme')`)
  const rest = await readAll(at.another().feed, tenant('acme'), first.cursor, 10)
  const keys = [...first.changes, ...rest.changes].map((c) => Number(c.key))
  expect(keys.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 26 }, (__, i) => i + 1))
  expect(new Set([...first.changes, ...rest.changes.slice(0, 15)].map((c) => c.tx)).size).toBe(1)
})
