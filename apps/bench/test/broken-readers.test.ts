import { sql } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ANY_LIMIT, insert, Schedules } from './support/schedule.ts'

/*
 * In each schedule a reader that is known to be wrong loses something, and the library's reader loses nothing while reading at the very same moments.
 * The broken reader without its flaw loses nothing either: it is the flaw that loses.
 */

let schedules: Schedules

beforeAll(async () => {
  schedules = await Schedules.open()
})

afterAll(async () => {
  await schedules[Symbol.asyncDispose]()
})

async function currentXid(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid')
  return rows[0]?.xid ?? ''
}

describe('a transaction that commits after a later id was read', () => {
  test('is lost by "id > cursor" and not by the library', async () => {
    const { library, broken, mended, all } = await schedules.chains('id-only')
    const [a, b] = schedules.writers
    await a.query(`begin; ${insert(101)}`)
    await b.query(insert(102))
    for (const chain of all) await chain.toEnd(ANY_LIMIT)
    expect(all.map(({ keys }) => keys)).toEqual([['102'], ['102'], ['102']])
    await a.query('commit')
    for (const chain of all) await chain.toEnd(ANY_LIMIT)

    expect(broken.keys).toEqual(['102'])
    expect(library.keys).toEqual(['102', '101'])
    expect(mended.keys).toEqual(['102', '101'])
  })
})

/** Arrangements tried. Each needs that no other transaction of the server ends within a few milliseconds. */
const ARRANGEMENTS = 1000

describe("a transaction at or above the snapshot's xmax that already holds a smaller id", () => {
  test('is lost by a reader that forgets "xid >= xmax" and not by the library', async () => {
    const [a, b] = schedules.writers
    for (let first = 1000; first < 1000 + 2 * ARRANGEMENTS; first += 2) {
      const { library, broken, mended, all } = await schedules.chains('no-xmax')
      // a has the smaller transaction id, b the smaller entry id.
      await a.query('begin; select pg_current_xact_id()')
      const arranged = await schedules.side.db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          await b.query(`begin; ${insert(first)}`)
          await a.query(`${insert(first + 1)} commit`)
          // The snapshot's xmax is the latest *ended* id + 1. Had another transaction of the server ended meanwhile, b would be listed as in progress.
          const { rows } = await sql<{
            unlisted: boolean
          }>`select pg_snapshot_xmax(pg_current_snapshot()) <= ${await currentXid(b)}::text::xid8 as unlisted`.execute(
            trx,
          )
          if (rows[0]?.unlisted !== true) return false
          for (const chain of all) await chain.page(ANY_LIMIT, trx)
          return true
        })
      if (!arranged) {
        await b.query('rollback')
        continue
      }
      const [early, late] = [String(first + 1), String(first)]
      expect(all.map(({ keys }) => keys)).toEqual([[early], [early], [early]])
      await b.query('commit')
      for (const chain of all) await chain.toEnd(ANY_LIMIT)

      expect(broken.keys).toEqual([early])
      expect(library.keys).toEqual([early, late])
      expect(mended.keys).toEqual([early, late])
      return
    }
    throw new Error('the server was never quiet for the few milliseconds that the arrangement takes')
  })
})

describe('a page that ends inside an entry', () => {
  test('loses the rest of it for a cursor without a place in the entry, and not for the library', async () => {
    const { library, broken, mended, all } = await schedules.chains('no-part')
    const [a, b] = schedules.writers
    await a.query(`begin; ${insert(11, 14)}`)
    await b.query(insert(21, 25))
    for (const chain of all) await chain.page(2)
    expect(library.keys).toEqual(['21', '22'])
    // Now the entry of four comes from behind, while a place inside the entry of five is kept.
    await a.query('commit')
    await b.query(insert(31, 33))
    for (const chain of all) await chain.page(3)
    expect(library.keys).toEqual(['21', '22', '11', '12', '13'])
    // Inside both entries at once; what is written from now on must disturb neither.
    await a.query(`update items set note = 'again' where id in (11, 21)`)
    await b.query(`begin; ${insert(41)}`)
    await a.query(insert(51, 52))
    for (const chain of all) await chain.page(1)
    await b.query('commit')
    for (const chain of all) await chain.toEnd(2)

    const written = [
      '11',
      '12',
      '13',
      '14',
      '21',
      '22',
      '23',
      '24',
      '25',
      '31',
      '32',
      '33',
      '11',
      '21',
      '41',
      '51',
      '52',
    ]
    expect([...library.keys].toSorted()).toEqual(written.toSorted())
    expect([...mended.keys].toSorted()).toEqual(written.toSorted())
    expect(library.keys.slice(5, 9)).toEqual(['14', '23', '24', '25'])
    const places = library.changes.map(({ position }) => `${position.entry}.${position.ordinal}`)
    expect(new Set(places).size).toBe(written.length)

    // What stood behind each of its cuts.
    expect(written.filter((key) => !broken.keys.includes(key))).toEqual(['23', '24', '25', '32', '33', '52'])
  })
})
