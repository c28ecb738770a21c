import { expect, it } from 'vitest'
import { readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page } from '../read/support.ts'

// B79: a cursor is bound to the process that made it; with this one away the feed starts again from zero.
it('is read by any process, also after the one that made the cursor is gone', async () => {
  await using at = await openReadFeed()
  const processes = [at.another(), at.another()]
  let since = page(await readChanges(at.feed, tenant('acme'), { since: 'now' })).cursor
  for (let i = 1; i <= 100; i++) await at.run(`insert into item values (${i}, 'acme')`)
  const seen: (string | null)[] = []
  for (let i = 0; seen.length < 100; i++) {
    if (i === 5) await processes[1]?.db.destroy()
    const { feed } = processes[i < 5 ? i % 2 : 0] ?? at
    const got = page(await readChanges(feed, tenant('acme'), { since, limit: 7 }))
    expect(got.changes.length).toBeGreaterThan(0)
    seen.push(...got.changes.map((c) => c.key))
    since = got.cursor
  }
  expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => String(i + 1)))
})
