import { createFeed } from '@tidemark/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unverifiedAuth, verifiedAuth } from '../../src/index.ts'
import type { SyncAuth, SyncErrorEvent } from '../../src/index.ts'
import { plainApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen, post, send } from '../support/http.ts'
import type { TestServer } from '../support/http.ts'
import { bearer, claims, nowSeconds, sign, testAuth } from '../support/tokens.ts'
import { sentData } from '../support/wire.ts'

let freight: Freight
let server: TestServer
const events: SyncErrorEvent[] = []

beforeAll(async () => {
  freight = await createFreight()
  server = await listen(plainApp({ feed: freight.feed, onError: (event) => void events.push(event) }).app)
})
afterAll(async () => {
  await server?.close()
  await freight?.[Symbol.asyncDispose]()
})

const unauthorized = (path: string) => ({
  error: {
    code: -32001,
    message: 'not signed in, or the sign-in is no longer valid; send a valid bearer token',
    data: { code: 'UNAUTHORIZED', httpStatus: 401, path, tidemark: { code: 'unauthorized', retryable: false } },
  },
})

describe('a caller who is not verified is told 401 and nothing else', () => {
  const tokens: Record<string, () => Promise<Record<string, string>>> = {
    'no token': async () => ({}),
    garbage: async () => ({ authorization: 'Bearer garbage' }),
    'basic credentials': async () => ({ authorization: 'Basic YWNtZTpzZWNyZXQ=' }),
    'an expired token': async () => ({ authorization: `Bearer ${await sign(claims({ exp: nowSeconds - 1 }))}` }),
    'a token without exp': async () => ({ authorization: `Bearer ${await sign(claims({ exp: undefined }))}` }),
    "another audience's token": async () => ({ authorization: `Bearer ${await sign(claims({ aud: 'other' }))}` }),
    'a token of another key': async () => ({ authorization: `Bearer ${await sign(claims(), new Uint8Array(32))}` }),
    'no tenant claim': async () => ({ authorization: `Bearer ${await sign(claims({ org_id: undefined }))}` }),
    'an empty tenant claim': async () => ({ authorization: `Bearer ${await sign(claims({ org_id: '' }))}` }),
    'a list of tenants': async () => ({
      authorization: `Bearer ${await sign(claims({ org_id: ['acme', 'globex'] }))}`,
    }),
    'an object as tenant': async () => ({ authorization: `Bearer ${await sign(claims({ org_id: { $ne: null } }))}` }),
  }

  test.each(Object.entries(tokens))('%s', async (_, headers) => {
    for (const input of [{ since: 'now' }, { since: 'garbage' }, { since: 'now', tables: ['wages'] }, '{']) {
      const answer = await post(`${server.url}/trpc/sync.changes`, input, await headers())
      expect(answer.status).toBe(401)
      expect(answer.json).toEqual(unauthorized('sync.changes'))
      const notified = await post(`${server.url}/trpc/sync.notify`, input, await headers())
      expect(notified.json).toEqual(unauthorized('sync.notify'))
    }
  })

  test('two Authorization headers, each of them good', async () => {
    const { authorization } = await bearer('acme')
    const headers = ['Host', 'x', 'Authorization', authorization, 'authorization', authorization]
    const answer = await send(`${server.url}/trpc/sync.changes?input=${encodeURIComponent('{"since":"now"}')}`, {
      headers,
    })
    expect(answer.json).toEqual(unauthorized('sync.changes'))
  })

  test('a good token in the URL or in the body', async () => {
    const token = await sign(claims())
    for (const name of ['access_token', 'token', 'authorization', 'connectionParams']) {
      const value = name === 'connectionParams' ? JSON.stringify({ authorization: `Bearer ${token}` }) : token
      const query = `${name}=${encodeURIComponent(value)}&input=${encodeURIComponent('{"since":"now"}')}`
      const answer = await send(`${server.url}/trpc/sync.changes?${query}`)
      expect(answer.json).toEqual(unauthorized('sync.changes'))
    }
    const answer = await post(`${server.url}/trpc/sync.changes`, { since: 'now', access_token: token })
    expect(answer.json).toEqual(unauthorized('sync.changes'))
  })

  test('but the operator is told the reason', async () => {
    events.length = 0
    await get(`${server.url}/trpc/sync.changes`, { since: 'now' }, await tokens['an expired token']!())
    expect(events).toEqual([
      expect.objectContaining({
        path: 'sync.changes',
        sent: expect.objectContaining({ code: 'UNAUTHORIZED' }),
        error: expect.any(Error),
      }),
    ])
    const error = events[0]!.error as Error
    expect(error.message).toBe('not verified: expired')
    expect((error.cause as { code: string }).code).toBe('ERR_JWT_EXPIRED')
  })
})

describe('what ctx.auth must be', () => {
  const look = { verified: true, tenant: 'acme', claims: {}, permissions: ['tidemark:notify'] } as unknown as SyncAuth
  test.each([
    ['a look-alike', look],
    ['a copy of a real one', { ...verifiedAuth({ tenant: 'acme' }), tenant: 'globex' }],
    ['nothing', undefined as unknown as SyncAuth],
    ['null', null as unknown as SyncAuth],
    ['true', true as unknown as SyncAuth],
    ['an unverified caller', unverifiedAuth('missing')],
    ['a caller without a tenant', verifiedAuth({ tenant: null })],
  ])('%s is refused', async (_, auth) => {
    await using own = await listen(plainApp({ feed: freight.feed, auth: async () => auth }).app)
    const answer = await get(`${own.url}/trpc/sync.changes`, { since: 'now' })
    expect(answer.json).toEqual(unauthorized('sync.changes'))
  })

  test.each(['', 'a\0b', 'x'.repeat(1025), Number.NaN, 2 ** 53, undefined, {}, true])(
    'verifiedAuth refuses the tenant %j',
    (tenant) => {
      expect(() => verifiedAuth({ tenant: tenant as string })).toThrow(/"tenant"/)
    },
  )

  test('verifiedAuth refuses permissions that are no list of texts', () => {
    expect(() => verifiedAuth({ tenant: 'a', permissions: 'tidemark:notify' as unknown as string[] })).toThrow(
      /"permissions"/,
    )
    expect(() => verifiedAuth({ tenant: 'a', permissions: [1] as unknown as string[] })).toThrow(/"permissions"/)
    expect(() => verifiedAuth(undefined as never)).toThrow(TypeError)
  })
})

describe('a tenant that the tenant columns cannot hold', () => {
  test('is a failed authentication, not an empty feed', async () => {
    await freight.pool.query('create table boxes (id int primary key, owner int not null)')
    const feed = createFeed({
      db: freight.db as never,
      tables: { boxes: { tenant: 'owner', key: 'id' } } as never,
      schema: 'numbered',
    })
    await feed.migrate()
    await using own = await listen(plainApp({ feed }).app)
    const ask = async (tenant: unknown) =>
      get(
        `${own.url}/trpc/sync.changes`,
        { since: 'now' },
        { authorization: `Bearer ${await sign(claims({ org_id: tenant }))}` },
      )
    for (const tenant of ['acme', '1.5', '99999999999', '1; drop table boxes', 9_007_199_254_740_991]) {
      const answer = await ask(tenant)
      expect(answer.status).toBe(401)
      expect(answer.json).toMatchObject({
        error: { data: { code: 'UNAUTHORIZED', tidemark: { code: 'invalidTenant', retryable: false } } },
      })
      expect(answer.text).not.toMatch(/integer|boxes|owner|22P02|syntax/)
    }
    expect((await ask(17)).status).toBe(200)
  })
})

describe("a feed with tenancy 'none'", () => {
  test('needs no tenant claim, but a verified caller', async () => {
    const feed = createFeed({
      db: freight.db,
      tenancy: 'none',
      tables: { cities: { key: 'code' } },
      schema: 'untenanted',
    })
    await feed.migrate()
    await using own = await listen(plainApp({ feed, auth: testAuth({ tenantClaim: undefined }) }).app)
    const headers = {
      authorization: `Bearer ${await sign(claims({ org_id: undefined, permissions: ['tidemark:notify'] }))}`,
    }
    const head = await get(`${own.url}/trpc/sync.changes`, { since: 'now' }, headers)
    expect(head.status).toBe(200)
    await freight.db.insertInto('cities').values({ code: 'HEL', name: 'Helsinki' }).execute()
    // No tenants, so no second permission: nothing reaches further than anything else.
    expect(
      (await post(`${own.url}/trpc/sync.notify`, { entries: [{ table: 'cities', keys: ['TMP'] }] }, headers)).status,
    ).toBe(200)
    const { cursor } = sentData(head)
    const page = await get(`${own.url}/trpc/sync.changes`, { since: cursor }, headers)
    expect(page.json).toMatchObject({
      result: {
        data: {
          changes: [
            { key: 'HEL', global: true },
            { key: 'TMP', global: true },
          ],
        },
      },
    })
    expect((await get(`${own.url}/trpc/sync.changes`, { since: 'now' })).status).toBe(401)
  })

  test('a tenant in the token changes nothing', async () => {
    const feed = createFeed({
      db: freight.db,
      tenancy: 'none',
      tables: { cities: { key: 'code' } },
      schema: 'untenanted2',
    })
    await feed.migrate()
    await using own = await listen(plainApp({ feed }).app)
    const head = await get(`${own.url}/trpc/sync.changes`, { since: 'now' }, await bearer('acme'))
    const { cursor } = sentData(head)
    expect((await get(`${own.url}/trpc/sync.changes`, { since: cursor }, await bearer('globex'))).json).toMatchObject({
      result: { data: { upToDate: true } },
    })
  })
})

test('a feed with tenants shows no row to a caller without one, even global rows', async () => {
  await ship(freight.db, 'acme', 1)
  await using own = await listen(
    plainApp({
      feed: freight.feed,
      auth: async () => verifiedAuth({ tenant: null, permissions: ['tidemark:notify', 'tidemark:notify-global'] }),
    }).app,
  )
  expect((await get(`${own.url}/trpc/sync.changes`, { since: 'start' })).json).toEqual(unauthorized('sync.changes'))
  expect((await post(`${own.url}/trpc/sync.notify`, { entries: [{ table: 'cities' }] })).json).toEqual(
    unauthorized('sync.notify'),
  )
})
