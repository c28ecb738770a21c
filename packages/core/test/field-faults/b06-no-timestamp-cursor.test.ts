import { expect, it } from 'vitest'
import { readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page } from '../read/support.ts'

// B06: a cursor made from a timestamp loses the microseconds and then skips rows or returns the same page for ever.
it('pages one by one through rows of one statement and of one millisecond', async () => {
  await using at = await openReadFeed()
  let since = page(await readChanges(at.feed, tenant('acme'), { since: 'now' })).cursor
  await at.run(`insert into item select g, 'acme' from generate_series(1, 5) g`)
  await at.run(`do $$ begin for i in 6..10 loop insert into item values (i, 'acme'); end loop; end $$`)
  const seen: (string | null)[] = []
  const cursors = new Set([since])
  for (let calls = 1; calls <= 11; calls++) {
    const got = page(await readChanges(at.feed, tenant('acme'), { since, limit: 1 }))
    seen.push(...got.changes.map((c) => c.key))
    if (got.changes.length > 0) {
      expect(cursors).not.toContain(got.cursor)
      cursors.add(got.cursor)
    }
    since = got.cursor
  }
  expect(seen).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
})
