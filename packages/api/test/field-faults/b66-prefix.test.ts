import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express, { Router } from 'express'
import { initTRPC } from '@trpc/server'
import { createTRPCClient, httpBatchLink, httpLink } from '@trpc/client'
import superjson from 'superjson'
import { describe, expect, test } from 'vitest'
import { verifiedAuth } from '../../src/index.ts'
import type { SyncContext } from '../../src/index.ts'
import { createSyncExpress } from '../../src/express.ts'
import { get, listen, post, send } from '../support/http.ts'

const t = initTRPC.context<SyncContext>().create({ transformer: superjson })
const router = t.router({
  changes: t.procedure.input((value) => value as { since: string }).query(({ input }) => ({ since: input.since })),
  notify: t.procedure.input((value) => value as { n: number }).mutation(({ input }) => ({ n: input.n })),
})
const mount = () => createSyncExpress({ router, auth: () => verifiedAuth({ tenant: 'acme' }) })
const input = { json: { since: 'now' } }
const good = { result: { data: { json: { since: 'now' } } } }

/** Every way of mounting, with the address under which the client finds it. */
const mounts: Record<string, [prefix: string, (app: express.Express) => void]> = {
  'a plain prefix': ['/trpc', (app) => app.use('/trpc', mount())],
  'no prefix': ['', (app) => app.use(mount())],
  'a prefix with a trailing slash': ['/trpc', (app) => app.use('/trpc/', mount())],
  'a deep prefix': ['/api/v1/trpc', (app) => app.use('/api/v1/trpc', mount())],
  'nested routers': [
    '/a/b',
    (app) => {
      const inner = Router()
      inner.use('/b', mount())
      app.use('/a', inner)
    },
  ],
  'nested routers that ignore case and are strict': [
    '/A/b',
    (app) => {
      const inner = Router({ strict: true, caseSensitive: false, mergeParams: true })
      inner.use('/B', mount())
      app.use('/a', inner)
    },
  ],
  'a parametrised prefix': [
    '/api/v7/tenants/acme.example/trpc',
    (app) => app.use('/api/:version/tenants/:name/trpc', mount()),
  ],
  'a wildcard prefix': ['/any/thing/trpc', (app) => app.use('/any/*rest', mount())],
  'a sub-app': ['/sub/trpc', (app) => app.use('/sub', express().use('/trpc', mount()))],
  'a route of its own': ['/trpc', (app) => app.all('/trpc/*path', mount())],
  'a prefix that looks like a procedure': ['/changes', (app) => app.use('/changes', mount())],
  'an app that rewrites': [
    '/old/place',
    (app) => {
      app.use((req, _res, next) => {
        req.url = req.url.replace(/^\/old\/place/, '/trpc')
        next()
      })
      app.use('/trpc', mount())
    },
  ],
}

describe.each(Object.entries(mounts))('B66 mounted under %s', (_, [prefix, setUp]) => {
  test('GET, POST, batches and mutations find their procedure, with and without a trailing slash', async () => {
    const app = express()
    setUp(app)
    await using server = await listen(app)
    const url = `${server.url}${prefix}`
    for (const slash of ['', '/']) {
      expect((await get(`${url}/changes${slash}`, input)).json).toEqual(good)
      expect((await post(`${url}/changes${slash}`, input)).json).toEqual(good)
      expect((await post(`${url}/notify${slash}`, { json: { n: 1 } })).json).toEqual({
        result: { data: { json: { n: 1 } } },
      })
      for (const comma of [',', '%2C', '%2c']) {
        const path = `${url}/changes${comma}changes${slash}?batch=1`
        const inputs = { 0: input, 1: input }
        expect((await post(path, inputs)).json).toEqual([good, good])
        expect((await send(`${path}&input=${encodeURIComponent(JSON.stringify(inputs))}`)).json).toEqual([good, good])
      }
    }
    const missing = await get(`${url}/changer`, input)
    expect(missing.status).toBe(404)
    expect(missing.json).toMatchObject({ error: { json: { data: { code: 'NOT_FOUND', path: 'changer' } } } })
  })

  test("tRPC's own client works, by GET and by POST, alone and batched", async () => {
    const app = express()
    setUp(app)
    await using server = await listen(app)
    for (const slash of ['', '/']) {
      for (const link of [httpLink, httpBatchLink]) {
        for (const methodOverride of ['POST', undefined] as const) {
          const options = {
            url: `${server.url}${prefix}${slash}`,
            transformer: superjson,
            ...(methodOverride && { methodOverride }),
          }
          const client = createTRPCClient<typeof router>({ links: [link(options)] })
          const [first, second] = await Promise.all([
            client.changes.query({ since: 'a' }),
            client.changes.query({ since: 'b' }),
          ])
          expect([first, second]).toEqual([{ since: 'a' }, { since: 'b' }])
          expect(await client.notify.mutate({ n: 2 })).toEqual({ n: 2 })
        }
      }
    }
  })
})

test('B66 behind a proxy that rewrites the path', async () => {
  const app = express()
  app.use('/internal/trpc', mount())
  await using server = await listen(app)
  await using proxy = await listen((req, res) => {
    void send(server.url, {
      target: req.url!.replace(/^\/public\/sync/, '/internal/trpc'),
      headers: { ...req.headers, 'x-forwarded-prefix': '/public/sync' },
    }).then((answer) => res.writeHead(answer.status).end(answer.text))
  })
  expect((await get(`${proxy.url}/public/sync/changes`, input)).json).toEqual(good)
})

test('B66 behind a proxy that sends the request target in absolute form', async () => {
  const app = express()
  app.use('/a/b', mount())
  await using server = await listen(app)
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  const target = `${server.url}/a/b/changes?input=${encodeURIComponent(JSON.stringify(input))}`
  socket.write(`GET ${target} HTTP/1.1\r\nHost: sync.example\r\nConnection: close\r\n\r\n`)
  const answer = await text(socket)
  expect(answer).toMatch(/^HTTP\/1\.1 200/)
  expect(answer).toContain(JSON.stringify(good))
})

test('B66 long queries travel by POST, so that no URL grows', async () => {
  const app = express()
  app.use('/a', Router().use('/b', mount()))
  await using server = await listen(app)
  const since = 'x'.repeat(60_000)
  const answer = await post(`${server.url}/a/b/changes`, { json: { since } })
  expect(answer.json).toEqual({ result: { data: { json: { since } } } })
})
