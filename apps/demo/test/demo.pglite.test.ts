import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startDemo } from '../src/server/start-demo.ts'
import { FEW_CITIES } from './support/demo.ts'
import { openDesk } from './support/desk.ts'
import { startProgram } from './support/program.ts'
import { tempFolder } from './support/temp-folder.ts'

test(
  'on PGlite in memory two desks of a company follow each other, and the other company hears nothing',
  { timeout: 120_000 },
  async () => {
    await using demo = await startDemo({
      database: { kind: 'pglite', folder: null },
      cities: FEW_CITIES,
      host: '127.0.0.1',
      port: { number: 0, orNext: false },
      page: (_request, _response, next) => next(),
      secret: null,
    })
    expect(demo.database).toEqual({ kind: 'pglite', url: null, dataFolder: null })
    using here = await openDesk(demo.url, 'harbour-dale')
    using there = await openDesk(demo.url, 'harbour-dale')
    using elsewhere = await openDesk(demo.url, 'altiplano')
    expect(await here.trpc.about.query()).toEqual({ othersCanWrite: false })

    const { shipments, counts } = await here.trpc.shipments.list.query({})
    expect(shipments).toHaveLength(10)
    expect(counts.booked).toBe(2)
    expect(shipments[0]?.createdAt).toBeInstanceOf(Date)
    const id = shipments[0]?.id ?? ''
    await here.trpc.shipments.setStatus.mutate({ id, status: 'collected' })
    await here.trpc.notes.add.mutate({ shipmentId: id, body: 'On PGlite.' })
    await there.until(({ table }) => table === 'notes')
    expect(there.changes.map(({ table, operation }) => `${operation} ${table}`)).toEqual([
      'update shipments',
      'create notes',
    ])
    expect((await there.trpc.shipments.list.query({})).shipments[0]).toMatchObject({
      id,
      status: 'collected',
      noteCount: 1,
    })

    // Its own change comes after those of the others, had they been shown.
    const own = (await elsewhere.trpc.shipments.list.query({ status: 'booked' })).shipments[0]?.id ?? ''
    await elsewhere.trpc.shipments.setStatus.mutate({ id: own, status: 'cancelled' })
    await elsewhere.until(({ key }) => key === own)
    expect(elsewhere.changes).toHaveLength(1)
  },
)

test(
  'on PGlite in a folder it says what it cannot show, keeps a second process off, and keeps its data',
  { timeout: 180_000 },
  async () => {
    await using home = await tempFolder()
    const env = { DEMO_DB: 'pglite', DEMO_DIR: home.path, DEMO_CITIES: String(FEW_CITIES), PORT: '0' }
    {
      await using demo = startProgram('main.ts', env)
      await demo.until('Ctrl-C stops it.')
      expect(demo.output()).toContain('no psql, no seed script, no second process can connect to it')
      expect(demo.output()).not.toContain('demo:seed')

      await using second = startProgram('main.ts', env)
      expect(await second.ended).toBe(1)
      expect(second.output()).toContain('The demo already runs at http://127.0.0.1:')
      await using seed = startProgram('seed.ts', env)
      expect(await seed.ended).toBe(1)
      expect(seed.output()).toContain('The demo runs on PGlite, inside its own process')

      demo.kill('SIGTERM')
      expect(await demo.ended).toBe(0)
      expect(await readdir(home.path)).toEqual(['demo-pglite'])
    }
    await using again = startProgram('main.ts', env)
    await again.until('Ctrl-C stops it.')
    expect(again.output()).not.toContain('cities written')
    again.kill('SIGTERM')
    expect(await again.ended).toBe(0)
  },
)
