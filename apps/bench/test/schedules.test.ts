import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ANY_LIMIT, insert, Schedules } from './support/schedule.ts'

/* Schedules in which chance would need long to find a fault of the library's reader. */

let schedules: Schedules

beforeAll(async () => {
  schedules = await Schedules.open()
})

afterAll(async () => {
  await schedules[Symbol.asyncDispose]()
})

test('a late entry and the rest of a cut one share a page', async () => {
  const { library } = await schedules.chains('none')
  const [a, b] = schedules.writers
  await a.query(`begin; ${insert(201)}`)
  await b.query(insert(211, 215))
  await library.page(2)
  await a.query('commit')
  await library.page(3)
  expect(library.keys).toEqual(['211', '212', '201', '213', '214'])
  await library.toEnd(3)
  expect(library.keys).toEqual(['211', '212', '201', '213', '214', '215'])
})

test('a transaction that commits behind an unfinished drain is not taken for seen', async () => {
  const { library, mended } = await schedules.chains('none')
  const [a, b, c] = schedules.writers
  await a.query(`begin; ${insert(61)}`)
  await b.query(`begin; ${insert(71, 76)}`)
  await c.query(insert(81))
  await library.toEnd(ANY_LIMIT)
  await b.query('commit')
  // The six come from behind, two a page. The one of an even smaller entry commits in between.
  await library.page(2)
  await a.query('commit')
  await library.page(2)
  expect(library.keys).toEqual(['81', '71', '72', '73', '74'])
  await library.toEnd(2)
  expect(library.keys).toEqual(['81', '71', '72', '73', '74', '75', '76', '61'])
  await mended.toEnd(ANY_LIMIT)
  expect(mended.keys.toSorted()).toEqual(library.keys.toSorted())
})

test('a snapshot older than the cursor is held, and costs nothing', async () => {
  const { library } = await schedules.chains('none')
  const [a] = schedules.writers
  await schedules.side.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (old) => {
      await sql`select 1`.execute(old)
      await a.query(insert(91))
      await library.page(ANY_LIMIT)
      await expect(library.page(ANY_LIMIT, old)).rejects.toThrow('"held":true')
    })
  await a.query(insert(92))
  await library.toEnd(ANY_LIMIT)
  expect(library.keys).toEqual(['91', '92'])
})
