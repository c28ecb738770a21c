import { expect, it } from 'vitest'
import { readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page, readAll } from '../read/support.ts'

// B23: the watermark comes from a clock, or from a timestamp in the data; everything written until then is skipped.
it('delivers everything whatever the clock of the writer and the times in the data say', async () => {
  await using at = await openReadFeed()
  const since = page(await readChanges(at.feed, tenant('acme'), { since: 'now' })).cursor
  await at.run(`insert into item values (1, 'acme', '2100-01-01T00:00:00Z')`)
  // Entries that claim to come from the future and from the past.
  await at.run(`update tidemark.log set at = '2100-01-01' where op = 'c'`)
  await at.run(`insert into item values (2, 'acme')`)
  await at.run(`update tidemark.log set at = '1970-01-01' where keys = '{2}'`)
  await at.run(`insert into item values (3, 'acme')`)
  const first = await readAll(at.feed, tenant('acme'), since, 1)
  expect(first.changes.map((c) => c.key)).toEqual(['1', '2', '3'])
})
