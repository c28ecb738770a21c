import { afterAll, beforeAll, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { capture, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// B17: generated names are cut at 63 bytes and collide; one table loses its capture without an error.

let bed: PostgresBed
beforeAll(async () => {
  bed = await openPostgres({ feedSchema: 's'.repeat(55) })
  await bed.reset()
})
afterAll(async () => {
  await bed.sql(
    `drop schema ${bed.feedSchema} cascade; drop owned by ${bed.feedSchema}_capture; drop role ${bed.feedSchema}_capture`,
  )
  await bed.close()
})

it('captures tables whose names agree in 60 characters, under a schema name of the full length', async () => {
  const sixty = 'x'.repeat(60)
  const tables = [sixty, `${sixty}abc`, `${sixty}abd`]
  const declared = Object.fromEntries(tables.map((name) => [name, { tenant: null, key: 'id' }]))
  const feed = await capture(
    bed,
    tables.map((name) => `create table ${quoted(name)} (id int primary key)`).join(';'),
    declared,
  )
  expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
  expect(await feed.verify()).toEqual([])
  const write = (names: readonly string[]): string[] =>
    names.flatMap((name) => [`insert into ${quoted(name)} values (1)`, `delete from ${quoted(name)}`])
  const told = (names: readonly string[]): string[] => names.flatMap((name) => [`create ${name} 1`, `delete ${name} 1`])
  expect(await changesOf(bed, feed, ...write(tables))).toEqual(told(tables))

  const [gone, ...rest] = tables as [string, ...string[]]
  await untrack(feed, gone)
  const left = feedOn(bed, Object.fromEntries(rest.map((name) => [name, { tenant: null, key: 'id' }])))
  expect(await changesOf(bed, left, ...write(tables))).toEqual(told(rest))
  expect(await left.verify()).toEqual([])
})
