import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { expect, test } from 'vitest'
import { startTestDemo } from './support/demo.ts'
import { openDesk } from './support/desk.ts'
import { openSql } from './support/sql.ts'

test('a shipment booked at one desk shows at another desk of the company, which reads its list anew', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  using here = await openDesk(demo.url, 'harbour-dale')
  using there = await openDesk(demo.url, 'harbour-dale')
  const before = there.sync.version('shipments')

  const { id } = await here.trpc.shipments.create.mutate({
    originId: await here.cityId('Rotterdam'),
    destinationId: await here.cityId('Lyon'),
    cargo: '  Tulips ',
    weightKg: 12,
  })
  const change = await there.until(({ key }) => key === id)
  expect(change).toMatchObject({ table: 'shipments', operation: 'create', global: false })
  await there.untilVersion('shipments', before + 1)
  expect(there.sync.version('shipments')).toBe(before + 1)
  const { shipments } = await there.trpc.shipments.list.query({})
  expect(shipments[0]).toMatchObject({ id, cargo: 'Tulips', status: 'booked', origin: { name: 'Rotterdam' } })
})

test('only tables that changed move on: a note does not say that shipments changed', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  using desk = await openDesk(demo.url, 'altiplano')
  const [shipment] = (await desk.trpc.shipments.list.query({})).shipments
  const before = {
    shipments: desk.sync.version('shipments'),
    notes: desk.sync.version('notes'),
    cities: desk.sync.version('cities'),
  }

  const { id } = await desk.trpc.notes.add.mutate({ shipmentId: shipment?.id ?? '', body: 'At the gate.' })
  await desk.until(({ table, key }) => table === 'notes' && key === id)
  expect(desk.changes).toHaveLength(1)
  await desk.untilVersion('notes', before.notes + 1)
  expect(desk.sync.version('notes')).toBe(before.notes + 1)
  expect(desk.sync.version('shipments')).toBe(before.shipments)
  expect(desk.sync.version('cities')).toBe(before.cities)
})

test('a shipment goes its way step by step, and no other way', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  using desk = await openDesk(demo.url, 'harbour-dale')
  const { id } = await desk.trpc.shipments.create.mutate({
    originId: await desk.cityId('Rotterdam'),
    destinationId: await desk.cityId('Lyon'),
    cargo: 'Tea',
    weightKg: 1,
  })

  await expect(desk.trpc.shipments.setStatus.mutate({ id, status: 'delivered' })).rejects.toMatchObject({
    message: '“Booked” cannot become “Delivered”: it may have moved on meanwhile',
    data: { code: 'CONFLICT' },
  })
  for (const status of ['collected', 'in_transit', 'delivered'] as const)
    await desk.trpc.shipments.setStatus.mutate({ id, status })
  await expect(desk.trpc.shipments.setStatus.mutate({ id, status: 'cancelled' })).rejects.toMatchObject({
    data: { code: 'CONFLICT' },
  })
  const { shipments } = await desk.trpc.shipments.list.query({})
  expect(shipments[0]).toMatchObject({ id, status: 'delivered' })
})

test('writes by plain SQL from another connection come in: insert, update, and delete with its notes; what was rolled back does not', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  using desk = await openDesk(demo.url, 'harbour-dale')
  const rotterdam = await desk.cityId('Rotterdam')
  const lyon = await desk.cityId('Lyon')

  await sql.run('begin')
  await sql.run(`update shipments set cargo = 'Nobody hears of this'`)
  await sql.run('rollback')
  const rows = await sql.run<{ id: string }>(
    `insert into shipments (company_id, origin_id, destination_id, cargo, weight_kg)
     select 'harbour-dale', ${rotterdam}, ${lyon}, 'Bulk ' || n, n from generate_series(1, 3) n returning id::text`,
  )
  const [first, second] = rows.map(({ id }) => id)
  await sql.run(`update shipments set status = 'cancelled' where id = $1`, [first])
  await sql.run(`insert into notes (company_id, shipment_id, body) values ('harbour-dale', $1, 'to be removed')`, [
    second,
  ])
  await sql.run(`delete from shipments where id = $1`, [second])

  await desk.until(({ table, operation }) => table === 'shipments' && operation === 'delete')
  const seen = desk.changes.map(({ table, operation, key }) =>
    `${operation} ${table} ${table === 'notes' ? '' : key}`.trim(),
  )
  expect(seen.slice(0, 5)).toEqual([
    ...rows.map(({ id }) => `create shipments ${id}`),
    `update shipments ${first}`,
    'create notes',
  ])
  expect(seen.slice(5).sort()).toEqual(['delete notes', `delete shipments ${second}`])
})

test('a shipment handed to the other company by SQL leaves one desk and comes to the other, notes and all', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  using harbour = await openDesk(demo.url, 'harbour-dale')
  using altiplano = await openDesk(demo.url, 'altiplano')

  const [handed] = await sql.run<{ id: string }>(
    `update shipments set company_id = 'altiplano' where cargo = 'Steel coil' returning id::text`,
  )
  const kinds = (changes: typeof harbour.changes): string[] =>
    changes.map(({ table, operation }) => `${operation} ${table}`).sort()
  const isLast = (operation: string) => (change: { table: string; operation: string }) =>
    change.table === 'notes' && change.operation === operation
  await harbour.until(isLast('delete'))
  expect(kinds(harbour.changes)).toEqual(['delete notes', 'delete notes', 'delete shipments'])
  await altiplano.until(isLast('create'))
  expect(kinds(altiplano.changes)).toEqual(['create notes', 'create notes', 'create shipments'])

  expect((await harbour.trpc.shipments.list.query({})).shipments.filter(({ id }) => id === handed?.id)).toEqual([])
  const there = (await altiplano.trpc.shipments.list.query({})).shipments.find(({ id }) => id === handed?.id)
  expect(there).toMatchObject({ cargo: 'Steel coil', noteCount: 2 })
})

test('a city renamed by SQL reaches every company, and their lists show the new name', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  await using sql = await openSql(database.url)
  using harbour = await openDesk(demo.url, 'harbour-dale')
  using altiplano = await openDesk(demo.url, 'altiplano')

  const rotterdam = await harbour.cityId('Rotterdam')
  await sql.run(`update cities set name = 'Rotterdam Europoort' where id = ${rotterdam}`)
  for (const desk of [harbour, altiplano]) {
    const change = await desk.until(({ table }) => table === 'cities')
    expect(change).toMatchObject({ key: String(rotterdam), operation: 'update', global: true })
  }
  const { shipments } = await harbour.trpc.shipments.list.query({})
  expect(shipments.find(({ cargo }) => cargo === 'Tulip bulbs')?.origin).toEqual({
    name: 'Rotterdam Europoort',
    country: 'NL',
  })
})

test('what cannot be booked is refused in words a person can use', async () => {
  await using database = await createTestDatabase()
  await using demo = await startTestDemo(database.url)
  using desk = await openDesk(demo.url, 'harbour-dale')
  const rotterdam = await desk.cityId('Rotterdam')
  const good = { originId: rotterdam, destinationId: await desk.cityId('Lyon'), cargo: 'Tea', weightKg: 1 }
  const cases = [
    [{ ...good, cargo: '   ' }, '"cargo": say what is sent'],
    [{ ...good, weightKg: 0 }, '"weightKg": a whole number of kilograms from 1 to 100,000'],
    [{ ...good, weightKg: 1.5 }, '"weightKg": a whole number of kilograms from 1 to 100,000'],
    [{ ...good, originId: 138_399 }, 'origin and destination must be cities of the list'],
    [{ ...good, destinationId: rotterdam }, 'origin and destination must be different cities'],
  ] as const
  for (const [input, message] of cases) {
    await expect(desk.trpc.shipments.create.mutate(input)).rejects.toMatchObject({
      message,
      data: { code: 'BAD_REQUEST' },
    })
  }
  await expect(
    desk.trpc.shipments.setStatus.mutate({ id: '1; drop table notes', status: 'collected' }),
  ).rejects.toMatchObject({
    message: '"id": must be a number in decimal digits',
  })
})
