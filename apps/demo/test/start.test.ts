import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { expect, test } from 'vitest'
import { FEW_CITIES } from './support/demo.ts'
import { openDesk } from './support/desk.ts'
import { type Program, startProgram } from './support/program.ts'
import { openSql } from './support/sql.ts'
import { tempFolder } from './support/temp-folder.ts'

const few = { DEMO_CITIES: String(FEW_CITIES), PORT: '0' }
const RUNNING = 'Ctrl-C stops it.'
const STACK = /\n {4}at /

function addressOf({ output }: Program): string {
  return /Page +(http:\S+)/.exec(output())?.[1] ?? ''
}

test(
  'with a Postgres of its own: starts, is written to from another process, stops cleanly, and is there again',
  { timeout: 120_000 },
  async () => {
    await using home = await tempFolder()
    const env = { ...few, DEMO_DIR: home.path }
    let databaseUrl = ''
    {
      await using demo = startProgram('main.ts', env)
      await demo.until(RUNNING)
      expect(demo.output()).toMatch(/\d+ cities written by bulk SQL in \d+\.\d s/)
      databaseUrl = /psql '(postgres:[^']+)'/.exec(demo.output())?.[1] ?? ''
      expect(demo.output()).toContain('demo:seed')

      // It says where it is to its owner only: the file holds the database's password.
      const file = join(home.path, 'demo.json')
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
        pid: demo.pid,
        page: addressOf(demo),
        database: 'embedded',
        databaseUrl,
      })

      using harbour = await openDesk(addressOf(demo), 'harbour-dale')
      using altiplano = await openDesk(addressOf(demo), 'altiplano')
      await using seed = startProgram('seed.ts', env, ['--rounds', '2', '--pause', '0'])
      expect(await seed.ended).toBe(0)
      expect(seed.output()).toMatch(/Round 2 of 2: Harbour & Dale Freight: 3 created, 4 moved on, \d noted, 1 removed/)
      for (const desk of [harbour, altiplano]) {
        await desk.until(({ table }) => table === 'cities')
        const created = desk.changes.filter(({ table, operation }) => table === 'shipments' && operation === 'create')
        expect(created.length).toBeGreaterThanOrEqual(3)
      }

      await using second = startProgram('main.ts', env)
      expect(await second.ended).toBe(1)
      expect(second.output()).toContain(`The demo already runs at ${addressOf(demo)} (process ${demo.pid}).`)

      demo.kill('SIGTERM')
      // As Ctrl-C through a package manager: more than one signal at once.
      demo.kill('SIGINT')
      expect(await demo.ended).toBe(0)
      expect(await readdir(home.path)).not.toContain('demo.json')
      await expect(openSql(databaseUrl)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    }

    await using again = startProgram('main.ts', env)
    await again.until(RUNNING)
    expect(again.output()).not.toContain('cities written')
    using desk = await openDesk(addressOf(again), 'harbour-dale')
    // Two rounds of three created and one removed beside the ten samples.
    const { counts } = await desk.trpc.shipments.list.query({})
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(14)
    again.kill('SIGINT')
    expect(await again.ended).toBe(0)
  },
)

test('a signal while it starts ends it cleanly', { timeout: 60_000 }, async () => {
  await using home = await tempFolder()
  await using demo = startProgram('main.ts', { ...few, DEMO_CITIES: 'all', DEMO_DIR: home.path })
  await demo.until('Preparing tables')
  demo.kill('SIGINT')
  expect(await demo.ended).toBe(0)
  expect(demo.output()).not.toContain(RUNNING)
  expect(demo.output()).not.toContain('rror')
  expect(await readdir(home.path)).not.toContain('demo.json')
})

test(
  'your own database is used, by several demos at once, and never one that holds tables of somebody else',
  { timeout: 60_000 },
  async () => {
    await using home = await tempFolder()
    await using database = await createTestDatabase()
    await using sql = await openSql(database.url)
    const env = { ...few, DATABASE_URL: database.url, DEMO_DIR: home.path }
    {
      await using first = startProgram('main.ts', env)
      await using second = startProgram('main.ts', env)
      await Promise.all([first.until(RUNNING), second.until(RUNNING)])
      expect([first, second].filter(({ output }) => output().includes('cities written'))).toHaveLength(1)
      expect(first.output()).toContain(`psql '${database.url}'`)

      using here = await openDesk(addressOf(first), 'altiplano')
      using there = await openDesk(addressOf(second), 'altiplano')
      const [shipment] = (await here.trpc.shipments.list.query({ status: 'booked' })).shipments
      await here.trpc.shipments.setStatus.mutate({ id: shipment?.id ?? '', status: 'collected' })
      await there.until(({ table, key }) => table === 'shipments' && key === shipment?.id)
    }
    // Tables of an earlier demo: as good as its remedy.
    await sql.run(`comment on table shipments is 'Tidemark demo: freight dispatch'`)
    await using third = startProgram('main.ts', env)
    expect(await third.ended).toBe(1)
    const remedy = /another version of the demo\. Drop its tables \((drop table [^)]+)\), then start again\./.exec(
      third.output(),
    )
    expect(remedy, third.output()).not.toBeNull()
    expect(third.output()).not.toMatch(STACK)
    await sql.run(remedy?.[1] ?? '')
    {
      await using anew = startProgram('main.ts', env)
      await anew.until(RUNNING)
      expect(anew.output()).toContain('cities written')
      using desk = await openDesk(addressOf(anew), 'altiplano')
      const [shipment] = (await desk.trpc.shipments.list.query({ status: 'booked' })).shipments
      await desk.trpc.shipments.setStatus.mutate({ id: shipment?.id ?? '', status: 'collected' })
      await desk.until(({ table, key }) => table === 'shipments' && key === shipment?.id)
    }

    await sql.run('comment on table shipments is null')
    await using last = startProgram('main.ts', env)
    expect(await last.ended).toBe(1)
    expect(last.output()).toContain(`The database already has a table "shipments" that is not the demo's.`)
    expect(last.output()).not.toMatch(STACK)
  },
)

test('what cannot be is said in a sentence, without a stack', { timeout: 60_000 }, async () => {
  await using home = await tempFolder()
  const cases = [
    [
      'main.ts',
      { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
      'The database of DATABASE_URL does not answer: ',
    ],
    ['main.ts', { DEMO_DB: 'oracle' }, 'DEMO_DB must be postgres, pglite or pglite-memory'],
    ['seed.ts', {}, 'No demo runs. Start it first'],
    ['seed.ts', { DATABASE_URL: 'http://db' }, 'DATABASE_URL must look like postgres://'],
  ] as const
  await Promise.all(
    cases.map(async ([file, env, message]) => {
      await using program = startProgram(file, { ...few, DEMO_DIR: home.path, ...env })
      expect(await program.ended).toBe(1)
      expect(program.output()).toContain(message)
      expect(program.output()).not.toMatch(STACK)
    }),
  )
})
