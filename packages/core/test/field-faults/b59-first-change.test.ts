import { beforeEach, describe, expect, it } from 'vitest'
import { allTenants, type Audience, globalOnly, readChanges, tenant } from '../../src/index.ts'
import { type AnyFeed, capture } from '../support/bed.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

// B59: the head is read from the sequence, which says 1 before and after its first use; the first change is taken for already seen.

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  feed = await capture(
    bed(),
    'create table tasks (id int primary key, org text not null); create table cities (id int primary key)',
    {
      tasks: { tenant: 'org', key: 'id' },
      cities: { tenant: null, key: 'id' },
    },
  )
})

const readers: readonly (readonly [string, Audience, string])[] = [
  ['a tenant', tenant('acme'), `insert into tasks values (1, 'acme')`],
  ['a tenant, of global rows', tenant('acme'), 'insert into cities values (1)'],
  ['global rows only', globalOnly, 'insert into cities values (1)'],
  ['all tenants', allTenants('test'), `insert into tasks values (1, 'acme')`],
]

describe.each([
  ['just installed', ''],
  ['whose log was never written', 'truncate tidemark.log restart identity'],
])('a feed %s', (_, empty) => {
  it.each(readers)('gives the very first row to %s', async (__, reader, write) => {
    if (empty !== '') await bed().sql(empty)
    for (const from of ['now', 'start'] as const) {
      const first = await readChanges(feed, reader, { since: from })
      if (!('changes' in first)) throw new Error('no page')
      expect(first).toMatchObject({ upToDate: true, hasMore: false })
      await bed().sql(write.replace('(1', from === 'now' ? '(1' : '(2'))
      const next = await readChanges(feed, reader, { since: first.cursor })
      expect(next).toMatchObject({
        changes: [{ operation: 'create', key: from === 'now' ? '1' : '2' }],
        upToDate: true,
      })
      expect('cursor' in next && next.cursor).not.toBe(first.cursor)
    }
  })
})
