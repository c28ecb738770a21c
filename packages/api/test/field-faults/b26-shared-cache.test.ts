import { createTRPCClient, httpBatchLink, httpBatchStreamLink } from '@trpc/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import express from 'express'
import { initTRPC } from '@trpc/server'
import { createSyncExpress } from '../../src/express.ts'
import { createSyncRouter } from '../../src/index.ts'
import type { SyncContext } from '../../src/index.ts'
import { plainApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen, post, send } from '../support/http.ts'
import type { Answer, TestServer } from '../support/http.ts'
import { bearer, testAuth } from '../support/tokens.ts'

/**
 * A shared cache that keys by method and URL alone, as many do: it stores what its origin does not forbid to store (RFC
 * 9111, section 3) and answers the next caller from there, whoever that is.
 */
async function cachingProxy(origin: string): Promise<TestServer & { readonly stored: Map<string, Answer> }> {
  const stored = new Map<string, Answer>()
  const server = await listen(async (req, res) => {
    const key = `${req.method} ${req.url}`
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const answer =
      stored.get(key) ??
      (await send(origin, {
        method: req.method!,
        target: req.url!,
        headers: req.headers,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      }))
    if (!/no-store|private/.test(answer.headers['cache-control'] ?? '')) stored.set(key, answer)
    res.writeHead(answer.status, {
      'content-type': answer.headers['content-type'],
      'cache-control': answer.headers['cache-control'] ?? 'none',
    })
    res.end(answer.text)
  })
  return { ...server, stored, [Symbol.asyncDispose]: server.close }
}

let freight: Freight
let origin: TestServer
beforeAll(async () => {
  freight = await createFreight()
  origin = await listen(plainApp({ feed: freight.feed }).app)
  await ship(freight.db, 'acme', 1)
  await ship(freight.db, 'globex', 1)
})
afterAll(async () => {
  await origin?.close()
  await freight?.[Symbol.asyncDispose]()
})

test('B26 the proxy of these tests does mix callers up when it may store', async () => {
  const app = express()
  app.get('/who', (req, res) => void res.json(req.headers.authorization))
  await using careless = await listen(app)
  await using proxy = await cachingProxy(careless.url)
  await get(`${proxy.url}/who`, undefined, { authorization: 'A' })
  expect((await get(`${proxy.url}/who`, undefined, { authorization: 'B' })).json).toBe('A')
})

test('B26 the second tenant never receives what the first was answered', async () => {
  await using proxy = await cachingProxy(origin.url)
  const calls: [string, (tenant: Record<string, string>) => Promise<Answer>][] = [
    ['a page', (headers) => get(`${proxy.url}/trpc/sync.changes`, { since: 'start' }, headers)],
    [
      'a batch',
      (headers) =>
        send(
          `${proxy.url}/trpc/sync.changes,sync.changes?batch=1&input=${encodeURIComponent('{"0":{"since":"start"},"1":{"since":"now"}}')}`,
          { headers },
        ),
    ],
    [
      'a stream of results',
      (headers) =>
        send(`${proxy.url}/trpc/sync.changes?batch=1&input=${encodeURIComponent('{"0":{"since":"start"}}')}`, {
          headers: { ...headers, 'trpc-accept': 'application/jsonl' },
        }),
    ],
  ]
  for (const [name, call] of calls) {
    const first = await call(await bearer('acme'))
    const second = await call(await bearer('globex'))
    const third = await call(await bearer('acme'))
    expect([first.status, second.status], name).toEqual([200, 200])
    expect(second.text, name).not.toBe(first.text)
    expect(third.text.replaceAll(/"cursor":"[^"]+"/g, ''), name).toBe(first.text.replaceAll(/"cursor":"[^"]+"/g, ''))
  }
  expect([...proxy.stored.keys()]).toEqual([])
})

test('B26 a refusal is not handed to the next caller either', async () => {
  await using proxy = await cachingProxy(origin.url)
  const url = `${proxy.url}/trpc/sync.changes`
  expect((await get(url, { since: 'now' })).status).toBe(401)
  expect((await get(url, { since: 'now' }, await bearer('acme'))).status).toBe(200)
  expect(proxy.stored.size).toBe(0)
})

test('B26 every answer says no-store: pages, batches, streams, errors, 404, 405, HEAD', async () => {
  const headers = await bearer('acme')
  const base = `${origin.url}/trpc`
  const answers = {
    page: await get(`${base}/sync.changes`, { since: 'now' }, headers),
    'page by POST': await post(`${base}/sync.changes`, { since: 'now' }, headers),
    batch: await post(`${base}/sync.changes,sync.changes?batch=1`, { 0: { since: 'now' }, 1: {} }, headers),
    stream: await send(`${base}/sync.changes?batch=1&input=${encodeURIComponent('{"0":{"since":"now"}}')}`, {
      headers: { ...headers, 'trpc-accept': 'application/jsonl' },
    }),
    'stream that is no batch': await send(`${base}/sync.changes`, {
      headers: { ...headers, 'trpc-accept': 'application/jsonl' },
    }),
    mutation: await post(
      `${base}/sync.notify`,
      { entries: [{ table: 'shipments' }] },
      await bearer('acme', ['tidemark:notify']),
    ),
    forbidden: await post(`${base}/sync.notify`, { entries: [{ table: 'shipments' }] }, headers),
    unauthorized: await get(`${base}/sync.changes`, { since: 'now' }),
    'bad input': await get(`${base}/sync.changes`, {}, headers),
    'bad JSON': await post(`${base}/sync.changes`, '{', headers),
    'no such procedure': await get(`${base}/sync.nothing`),
    'no procedure at all': await get(`${base}/`),
    'wrong method': await get(`${base}/sync.notify`, {}, headers),
    'wrong content type': await send(`${base}/sync.notify`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/html' },
      body: 'x',
    }),
    'too large': await post(`${base}/sync.notify`, 'x'.repeat(1_048_577), headers),
    'batch too large': await get(`${base}/${'sync.changes,'.repeat(101)}?batch=1`, undefined, headers),
    'bad encoding': await send(`${base}/%E0%A4%A`, { headers }),
    OPTIONS: await send(`${base}/sync.changes`, { method: 'OPTIONS', headers }),
    HEAD: await send(`${base}/sync.changes`, { method: 'HEAD', headers }),
    DELETE: await send(`${base}/sync.changes`, { method: 'DELETE', headers }),
  }
  for (const [name, { headers: sent }] of Object.entries(answers)) {
    expect(sent['cache-control'], name).toBe('no-store')
    expect(sent, name).not.toHaveProperty('etag')
  }
})

test("B26 neither the app's procedures nor its createContext can undo it", async () => {
  const t = initTRPC.context<SyncContext & { cache: (value: string) => void }>().create()
  const router = t.router({
    sync: createSyncRouter(t, { feed: freight.feed }),
    cached: t.procedure.query(({ ctx }) => ctx.cache('public, max-age=600')),
  })
  const app = express()
  app.use(
    '/trpc',
    createSyncExpress({
      router,
      auth: testAuth(),
      createContext: ({ res }) => {
        res.setHeader('Cache-Control', 'public')
        return { cache: (value: string) => void res.setHeader('Cache-Control', value) }
      },
    }),
  )
  await using server = await listen(app)
  const headers = await bearer('acme')
  for (const path of ['sync.changes', 'cached', 'nothing']) {
    expect((await get(`${server.url}/trpc/${path}`, { since: 'now' }, headers)).headers['cache-control']).toBe(
      'no-store',
    )
  }
  const client = createTRPCClient<typeof router>({ links: [httpBatchLink({ url: `${server.url}/trpc`, headers })] })
  const streaming = createTRPCClient<typeof router>({
    links: [httpBatchStreamLink({ url: `${server.url}/trpc`, headers })],
  })
  for (const each of [client, streaming]) {
    await expect(Promise.all([each.cached.query(), each.sync.changes.query({ since: 'now' })])).resolves.toHaveLength(2)
  }
})
