import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { createFeed } from '@tidemark/core'
import { initTRPC } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSyncExpress } from '../../src/express.ts'
import { createSyncRouter } from '../../src/index.ts'
import type { SyncContext, SyncRouterOptions } from '../../src/index.ts'
import { connect, createFreight, freightFeed, freightTables, openPool } from '../support/freight.ts'
import type { Freight, FreightDb, FreightFeed } from '../support/freight.ts'
import { get, listen, post } from '../support/http.ts'
import type { Answer } from '../support/http.ts'
import { bearer, testAuth } from '../support/tokens.ts'

type FreightOptions = SyncRouterOptions<FreightDb, typeof freightTables>

let freight: Freight
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  freight = await createFreight()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  await freight?.[Symbol.asyncDispose]()
})

/** A feed over a connection of its own. */
function feedOver(config: pg.PoolConfig): FreightFeed {
  const pool = openPool(config)
  cleanUps.push(() => pool.end())
  return freightFeed(new Kysely<FreightDb>({ dialect: new PostgresDialect({ pool }) }))
}

/** Makes a role for one test; roles belong to the whole server, so its name is its own. */
async function role(options: string): Promise<string> {
  const name = `freight_${randomUUID().replaceAll('-', '')}`
  await freight.pool.query(`create role ${name} login password 'hunter2' ${options}`)
  cleanUps.push(() => freight.pool.query(`drop role ${name}`))
  const url = new URL(freight.url)
  url.username = name
  url.password = 'hunter2'
  return url.href
}

/** Everything that can go wrong below a procedure, with what the operator must hear. */
const failures: Record<
  string,
  readonly [options: () => FreightOptions | Promise<FreightOptions>, status: number, original: RegExp]
> = {
  'nothing listens': [
    () => ({ feed: feedOver({ host: '127.0.0.1', port: 1, user: 'freight_app', password: 'hunter2' }) }),
    500,
    /ECONNREFUSED/,
  ],
  'no such database': [
    () => ({ feed: feedOver({ connectionString: freight.url.replace(/\/[^/]*$/, '/no_such_db') }) }),
    500,
    /no_such_db/,
  ],
  'too many connections of a role': [
    async () => ({ feed: feedOver({ connectionString: await role('connection limit 0') }) }),
    500,
    /too many connections for role/,
  ],
  'an ended pool': [
    async () => {
      const { db, pool } = connect(freight.url)
      await pool.end()
      return { feed: freightFeed(db) }
    },
    500,
    /after calling end/,
  ],
  'no room in the pool': [
    async () => {
      const pool = openPool({ connectionString: freight.url, max: 1, connectionTimeoutMillis: 50 })
      const client = await pool.connect()
      cleanUps.push(async () => {
        client.release()
        await pool.end()
      })
      return { feed: freightFeed(new Kysely<FreightDb>({ dialect: new PostgresDialect({ pool }) })) }
    },
    500,
    /timeout/,
  ],
  'no rights': [async () => ({ feed: feedOver({ connectionString: await role('') }) }), 500, /permission denied/],
  'a time-out of the database': [
    async () => {
      const feed = feedOver({ connectionString: freight.url, statement_timeout: 100 })
      const holder = await freight.pool.connect()
      await holder.query('begin')
      await holder.query('lock table tidemark.state, tidemark.log, tidemark.tracked in access exclusive mode')
      cleanUps.push(async () => {
        await holder.query('rollback')
        holder.release()
      })
      return { feed }
    },
    500,
    /statement timeout/,
  ],
  'a feed that was never migrated': [
    () => ({ feed: createFeed({ db: freight.db, tables: freightTables, schema: 'never_migrated' }) }),
    503,
    /migrate/,
  ],
  'a permission check that fails': [
    () => ({
      feed: freight.feed,
      permit: () => {
        throw new Error('policy store postgres://10.0.0.7/policies is down')
      },
    }),
    500,
    /10\.0\.0\.7/,
  ],
}

/** Sends whatever it can find in an error. */
const dumpEverything = ({ error, shape }: { error: Error; shape: object }) => ({
  ...shape,
  dump: {
    ...error,
    name: error.name,
    stack: error.stack,
    cause: String(error.cause),
    text: String(error),
    inspected: inspect(error, { depth: 20, showHidden: true, getters: true }),
    symbols: Object.getOwnPropertySymbols(error).map(String),
  },
})

// Stack frames, paths, SQL, SQLSTATEs, addresses, roles and the wording of the database and its driver.
const leaks = new RegExp(
  [
    'node_modules',
    process.cwd().replaceAll(/[.+]/g, '\\$&'),
    String.raw`\.ts\b|\bat \S+ \(|"stack":"`,
    String.raw`\bselect\b|\binsert\b|relation|permission denied|tidemark\.(log|state)|"[0-9]{2}[0-9A-Z]{3}"`,
    String.raw`ECONN|127\.0\.0\.1|10\.0\.0\.7|hunter2|freight_|no_such|never_migrated|migrate\(\)`,
    String.raw`statement timeout|timeout exceeded|destroyed|calling end`,
  ].join('|'),
  'i',
)

async function call(url: string, headers: { authorization: string }, permitFails: boolean): Promise<Answer[]> {
  const notify = post(`${url}/trpc/sync.notify`, { entries: [{ table: 'shipments', keys: ['1'] }] }, headers)
  if (permitFails) return [await notify]
  return [
    await get(`${url}/trpc/sync.changes`, { since: 'now' }, headers),
    await post(
      `${url}/trpc/sync.changes,sync.changes?batch=1`,
      { 0: { since: 'now' }, 1: { since: 'start' } },
      headers,
    ),
    await notify,
  ]
}

const settings: [title: string, environment: string | undefined, config: object][] = [
  ['isDev: true', 'test', { isDev: true }],
  ['isDev: false', 'test', { isDev: false }],
  ['NODE_ENV=production', 'production', {}],
  ['NODE_ENV=development', 'development', {}],
  ['NODE_ENV unset', undefined, {}],
  ['isDev: true and a formatter that sends everything', 'development', { isDev: true, errorFormatter: dumpEverything }],
]

describe.each(Object.entries(failures))('with %s', (title, [options, status, original]) => {
  test('no answer says why, and the operator is told', async () => {
    const made = await options()
    const headers = await bearer('acme', ['tidemark:notify'])
    for (const [setting, environment, config] of settings) {
      vi.stubEnv('NODE_ENV', environment)
      const seen: unknown[] = []
      const t = initTRPC.context<SyncContext>().create(config)
      const router = t.router({ sync: createSyncRouter(t, { ...made, onError: ({ error }) => void seen.push(error) }) })
      const app = express()
      app.use('/trpc', createSyncExpress({ router, auth: testAuth() }))
      await using server = await listen(app)
      const answers = await call(server.url, headers, title.startsWith('a permission'))
      for (const answer of answers) {
        expect(answer.status, setting).toBe(status)
        expect(answer.text.match(leaks)?.[0], `${setting}: ${answer.text}`).toBeUndefined()
      }
      expect(seen.length, setting).toBeGreaterThanOrEqual(answers.length)
      for (const error of seen) expect(inspect(error, { depth: 5 })).toMatch(original)
    }
    while (cleanUps.length > 0) await cleanUps.pop()!()
  })
})

test('also with the plain tRPC adapter, which adds stacks when isDev is on', async () => {
  const auth = testAuth()
  const t = initTRPC.context<SyncContext>().create({ isDev: true })
  const feed = feedOver({ host: '127.0.0.1', port: 1 })
  const router = t.router({ sync: createSyncRouter(t, { feed, onError: () => {} }) })
  const app = express()
  app.use('/trpc', createExpressMiddleware({ router, createContext: async ({ req }) => ({ auth: await auth(req) }) }))
  await using server = await listen(app)
  const headers = await bearer('acme')
  for (const answer of [
    await get(`${server.url}/trpc/sync.changes`, { since: 'now' }, headers),
    await get(`${server.url}/trpc/sync.changes`, { since: 5 }, headers),
    await post(`${server.url}/trpc/sync.notify`, '{"entries":', headers),
    await get(`${server.url}/trpc/sync.changes`, { since: 'now' }),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.text.match(leaks)?.[0], answer.text).toBeUndefined()
  }
})

test('a transformer that fails on an input says nothing of itself', async () => {
  const transformer = {
    serialize: (value: unknown) => value,
    deserialize: () => {
      throw new Error('cannot decode at /srv/app/transformer.ts with key hunter2')
    },
  }
  const t = initTRPC.context<SyncContext>().create({ isDev: true, transformer })
  const seen: unknown[] = []
  const router = t.router({
    sync: createSyncRouter(t, { feed: freight.feed, onError: ({ error }) => void seen.push(error) }),
  })
  const app = express()
  app.use('/trpc', createSyncExpress({ router, auth: testAuth() }))
  await using server = await listen(app)
  const headers = await bearer('acme', ['tidemark:notify'])
  for (const answer of [
    await get(`${server.url}/trpc/sync.changes`, { since: 'now' }, headers),
    await post(`${server.url}/trpc/sync.notify`, {}, headers),
    await post(`${server.url}/trpc/sync.changes?batch=1`, { 0: {} }, headers),
  ]) {
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('the input cannot be decoded')
    expect(answer.text.match(leaks)?.[0], answer.text).toBeUndefined()
  }
  expect(seen).toHaveLength(3)
  for (const error of seen) expect(String(error)).toContain('/srv/app/transformer.ts')
})

test('without onError, what only an operator can mend goes to console.error and refusals do not', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const t = initTRPC.context<SyncContext>().create()
  const router = t.router({ sync: createSyncRouter(t, { feed: feedOver({ host: '127.0.0.1', port: 1 }) }) })
  const app = express()
  app.use('/trpc', createSyncExpress({ router, auth: testAuth() }))
  await using server = await listen(app)
  await get(`${server.url}/trpc/sync.changes`, { since: 'now' })
  await get(`${server.url}/trpc/sync.changes`, {}, await bearer('acme'))
  expect(log).not.toHaveBeenCalled()
  await get(`${server.url}/trpc/sync.changes`, { since: 'now' }, await bearer('acme'))
  expect(log).toHaveBeenCalledExactlyOnceWith(
    'tidemark: sync.changes failed (internal)',
    expect.objectContaining({ code: 'ECONNREFUSED' }),
  )
  log.mockRestore()
})

test.each([
  [
    'throws',
    () => {
      throw new Error('logger broke')
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('logger broke')
    },
  ],
])('an onError hook that %s changes no answer', async (_, onError) => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const t = initTRPC.context<SyncContext>().create()
  const router = t.router({ sync: createSyncRouter(t, { feed: freight.feed, onError }) })
  const app = express()
  app.use('/trpc', createSyncExpress({ router, auth: testAuth() }))
  await using server = await listen(app)
  expect((await get(`${server.url}/trpc/sync.changes`, {}, await bearer('acme'))).status).toBe(400)
  expect(warned).toHaveBeenCalledOnce()
  warned.mockRestore()
})
