import { beforeEach, expect, it } from 'vitest'
import { type AnyFeed, capture } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

// B61: an UPDATE that changes nothing is treated differently from case to case; in one product the DELETE after it got lost.

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  feed = await capture(
    bed(),
    `create table t (id int primary key, org text not null, v int, w json); insert into t values (1, 'acme', 1, '{}'), (2, 'acme', 1, '{}')`,
    {
      t: { tenant: 'org', key: 'id', scopes: ['v'] },
    },
  )
})

it.each([
  ['singly', 'update t set v = v where id = 1'],
  ['all columns', 'update t set id = id, org = org, v = v, w = w where id = 1'],
  ['in bulk', 'update t set v = v'],
])('1,000 of them tell nothing, and the delete after them arrives: %s', async (_, update) => {
  const repeated = `do $$ begin for i in 1..1000 loop ${update}; end loop; end $$`
  expect(await changesOf(bed(), feed, repeated, 'delete from t where id = 1')).toEqual(['delete t 1 @acme'])
  expect(await bed().sql('select count(*)::int as n from t')).toEqual([{ n: 1 }])
})

it('in the transaction of the delete', async () => {
  expect(
    await changesOf(bed(), feed, 'begin; update t set v = v where id = 1; delete from t where id = 1; commit'),
  ).toEqual(['delete t 1 @acme'])
})
