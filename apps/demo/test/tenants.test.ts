import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { expect, test } from 'vitest'
import { startTestDemo } from './support/demo.ts'
import { openDesk } from './support/desk.ts'
import { openSql } from './support/sql.ts'

test('each company lists its own shipments, with their cities and the number of their notes', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  using harbour = await openDesk(demo.url, 'harbour-dale')
  using altiplano = await openDesk(demo.url, 'altiplano')

  const own = await harbour.trpc.shipments.list.query({})
  const other = await altiplano.trpc.shipments.list.query({})
  expect(own.shipments).toHaveLength(10)
  expect(other.shipments).toHaveLength(8)
  const ids = new Set(own.shipments.map(({ id }) => id))
  expect(other.shipments.filter(({ id }) => ids.has(id))).toEqual([])

  expect(own.counts).toEqual({ booked: 2, collected: 2, in_transit: 3, delivered: 2, cancelled: 1 })
  expect(own.shipments.find(({ cargo }) => cargo === 'Steel coil')).toMatchObject({
    status: 'in_transit',
    origin: { name: 'Gdańsk', country: 'PL' },
    destination: { name: 'Kraków', country: 'PL' },
    weightKg: 22_000,
    distanceKm: 485,
    noteCount: 2,
    createdAt: expect.any(Date),
  })
  const inTransit = await harbour.trpc.shipments.list.query({ status: 'in_transit' })
  expect(inTransit.shipments.map(({ status }) => status)).toEqual(['in_transit', 'in_transit', 'in_transit'])
})

test('no procedure reads or writes rows of another company', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  using harbour = await openDesk(demo.url, 'harbour-dale')
  using altiplano = await openDesk(demo.url, 'altiplano')
  const [victim] = (await harbour.trpc.shipments.list.query({ status: 'booked' })).shipments
  const id = victim?.id ?? ''

  const missing = { message: 'there is no such shipment', data: { code: 'NOT_FOUND' } }
  await expect(altiplano.trpc.shipments.setStatus.mutate({ id, status: 'collected' })).rejects.toMatchObject(missing)
  await expect(altiplano.trpc.notes.add.mutate({ shipmentId: id, body: 'mine now' })).rejects.toMatchObject(missing)
  // A shipment that nobody has is answered in the very same words.
  await expect(altiplano.trpc.shipments.setStatus.mutate({ id: '999999', status: 'collected' })).rejects.toMatchObject(
    missing,
  )
  await expect(altiplano.trpc.notes.add.mutate({ shipmentId: '999999', body: 'mine now' })).rejects.toMatchObject(
    missing,
  )

  await harbour.trpc.notes.add.mutate({ shipmentId: id, body: 'for our eyes' })
  expect((await harbour.trpc.notes.list.query({ shipmentId: id })).map(({ body }) => body)).toContain('for our eyes')
  expect(await altiplano.trpc.notes.list.query({ shipmentId: id })).toEqual([])

  expect(await sql.run('select status from shipments where id = $1', [id])).toEqual([{ status: 'booked' }])
  expect(await sql.run(`select company_id from notes where body = 'mine now'`)).toEqual([])
})

test('not even plain SQL hangs a note of one company on a shipment of another', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  expect(demo.preparation.citiesWritten).toBeGreaterThan(0)
  const stray = sql.run(
    `insert into notes (company_id, shipment_id, body) select 'altiplano', id, 'stray' from shipments where company_id = 'harbour-dale' limit 1`,
  )
  await expect(stray).rejects.toMatchObject({ code: '23503' })
})

test('a company hears of its own changes and of the global ones, and of nothing else', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  using harbour = await openDesk(demo.url, 'harbour-dale')
  using altiplano = await openDesk(demo.url, 'altiplano')

  const city = await harbour.cityId('Rotterdam')
  const [theirs] = await sql.run<{ id: string }>(
    `update shipments set weight_kg = weight_kg + 1 where id = (select max(id) from shipments where company_id = 'harbour-dale') returning id::text`,
  )
  await sql.run(`insert into notes (company_id, shipment_id, body) values ('harbour-dale', $1, 'hello')`, [theirs?.id])
  await sql.run(`update cities set population = population + 1 where id = ${city}`)
  const [ours] = await sql.run<{ id: string }>(
    `update shipments set weight_kg = weight_kg + 1 where id = (select max(id) from shipments where company_id = 'altiplano') returning id::text`,
  )

  // Changes come in the order of their commits: once the last is there, nothing before it is still to come.
  await altiplano.until(({ table, key }) => table === 'shipments' && key === ours?.id)
  expect(altiplano.changes.map(({ table, key, operation, global }) => ({ table, key, operation, global }))).toEqual([
    { table: 'cities', key: String(city), operation: 'update', global: true },
    { table: 'shipments', key: ours?.id, operation: 'update', global: false },
  ])
  await harbour.until(({ table }) => table === 'cities')
  expect(harbour.changes.map(({ table, key }) => [table, key])).toEqual([
    ['shipments', theirs?.id],
    ['notes', expect.any(String)],
    ['cities', String(city)],
  ])
})
