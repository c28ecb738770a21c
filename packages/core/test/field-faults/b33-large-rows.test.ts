import { afterAll, beforeAll, expect, it } from 'vitest'
import { notify, tenant } from '../../src/index.ts'
import { type AnyFeed, capture } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// B33: the row travels in a notification, which fails from 8,000 bytes on and rolls the application's write back.

let bed: PostgresBed
let feed: AnyFeed
beforeAll(async () => {
  bed = await openPostgres()
  await bed.reset()
  feed = await capture(bed, 'create table docs (key text primary key, tenant_id text not null, body text, part text)', {
    docs: { tenant: 'tenant_id', key: 'key', scopes: ['part'] },
  })
})
afterAll(() => bed.close())

it.each([
  ['1 MB of text', 'a', `repeat('x', 1048576)`],
  ['1 MB that does not compress', 'b', `(select string_agg(md5(g::text), '') from generate_series(1, 32768) g)`],
  ['a key of 9,000 bytes', 'k'.repeat(9000), `''`],
  ...[7999, 8000, 8001].map((bytes): [string, string, string] => [
    `a multi-byte key of ${bytes} bytes`,
    'ü'.repeat(bytes >> 1) + 'u'.repeat(bytes % 2),
    `''`,
  ]),
])('commits and tells %s', async (_, key, body) => {
  const told = await changesOf(
    bed,
    feed,
    `insert into docs values ('${key}', 'acme', ${body})`,
    `update docs set body = body || 'y' where key = '${key}'`,
    `update docs set body = body || 'z'`,
    `delete from docs where key = '${key}'`,
  )
  expect(told).toEqual([
    `create docs ${key} @acme`,
    `update docs ${key} @acme`,
    `update docs ${key} @acme`,
    `delete docs ${key} @acme`,
  ])
})

it('commits and tells a scope value of 100 kB, and a bulk of long keys', async () => {
  expect(await changesOf(bed, feed, `insert into docs values ('s', 'acme', '', repeat('s', 100000))`)).toEqual([
    'create docs s @acme',
  ])
  const told = await changesOf(
    bed,
    feed,
    `insert into docs select g || repeat('k', 2000), 'acme', '' from generate_series(1, 1500) g`,
  )
  expect(told).toHaveLength(1500)
})

it('announces a key of 9,000 bytes explicitly', async () => {
  const key = 'k'.repeat(9000)
  const announce = (): Promise<unknown> =>
    bed.db
      .transaction()
      .execute((trx) =>
        notify(feed, trx, tenant('acme'), { entries: [{ table: 'docs', keys: [key], scopes: { part: null } }] }),
      )
  expect(await changesBy(feed, announce)).toEqual([`update docs ${key} @acme`])
})
