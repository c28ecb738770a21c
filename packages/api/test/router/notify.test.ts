import { createFeed, readChanges, tenant } from '@tidemark/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSyncRouter, verifiedAuth } from '../../src/index.ts'
import type { SyncContext, SyncPermission } from '../../src/index.ts'
import { initTRPC } from '@trpc/server'
import { plainApp } from '../support/apps.ts'
import { createFreight, freightTables } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen, post } from '../support/http.ts'
import type { Answer, TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'

let freight: Freight
let server: TestServer

beforeAll(async () => {
  freight = await createFreight()
  server = await listen(plainApp({ feed: freight.feed }).app)
})
afterAll(async () => {
  await server?.close()
  await freight?.[Symbol.asyncDispose]()
})

async function notify(company: string, permissions: readonly string[], input: unknown): Promise<Answer> {
  return post(`${server.url}/trpc/sync.notify`, input, await bearer(company, permissions))
}

async function head(company: string): Promise<string> {
  const page = await readChanges(freight.feed, tenant(company), { since: 'now' })
  if (!('changes' in page)) throw new Error('no page')
  return page.cursor
}

async function changesSince(company: string, since: string): Promise<unknown> {
  const page = await readChanges(freight.feed, tenant(company), { since })
  if (!('changes' in page)) throw new Error('no page')
  return page.changes.map(({ table, key, operation, tenant: whose }) => ({ table, key, operation, tenant: whose }))
}

const forbidden = (permission: SyncPermission, path = 'sync.notify') => ({
  error: {
    code: -32003,
    message: `the caller has not the permission "${permission}"`,
    data: { code: 'FORBIDDEN', httpStatus: 403, path, tidemark: { code: 'forbidden', retryable: false } },
  },
})

describe('notify', () => {
  test("appends to the caller's own tenant only, row by row or the whole table", async () => {
    const [own, foreign] = [await head('acme'), await head('globex')]
    const answer = await notify('acme', ['tidemark:notify'], {
      entries: [{ table: 'shipments', keys: ['7', '8'] }, { table: 'legs', keys: ['["7","1"]'] }, { table: 'legs' }],
      reason: 'nightly import',
    })
    expect(answer.json).toEqual({
      result: { data: { token: expect.any(String), tables: ['shipments', 'legs'], changes: 4 } },
    })
    expect(await changesSince('acme', own)).toEqual([
      { table: 'shipments', key: '7', operation: 'update', tenant: 'acme' },
      { table: 'shipments', key: '8', operation: 'update', tenant: 'acme' },
      { table: 'legs', key: '["7","1"]', operation: 'update', tenant: 'acme' },
      { table: 'legs', key: null, operation: 'invalidate', tenant: 'acme' },
    ])
    expect(await changesSince('globex', foreign)).toEqual([])
  })

  test("keeps the caller's reason and an actor that is not the caller's to choose", async () => {
    await notify('acme', ['tidemark:notify'], { entries: [{ table: 'shipments', keys: ['9'] }], reason: 'who was it' })
    const { rows } = await freight.pool.query("select actor, reason from tidemark.log where reason = 'who was it'")
    expect(rows).toEqual([{ actor: 'external', reason: 'who was it' }])
  })

  test('needs a permission, before anything is said about the input', async () => {
    for (const input of [{ entries: [{ table: 'shipments' }] }, { entries: [{ table: 'wages' }] }, null, '{']) {
      const answer = await notify('acme', ['tidemark:notify-global'], input)
      expect(answer.status).toBe(403)
      expect(answer.json).toEqual(forbidden('tidemark:notify'))
    }
  })

  test('needs a second permission for global tables, and then tells everyone', async () => {
    const entries = [
      { table: 'shipments', keys: ['1'] },
      { table: 'cities', keys: ['OUL'] },
    ]
    const [own, foreign] = [await head('acme'), await head('globex')]
    expect((await notify('acme', ['tidemark:notify'], { entries })).json).toEqual(forbidden('tidemark:notify-global'))
    expect(await changesSince('acme', own)).toEqual([])
    expect((await notify('acme', ['tidemark:notify', 'tidemark:notify-global'], { entries })).status).toBe(200)
    const city = { table: 'cities', key: 'OUL', operation: 'update', tenant: null }
    expect(await changesSince('acme', own)).toEqual([
      { table: 'shipments', key: '1', operation: 'update', tenant: 'acme' },
      city,
    ])
    expect(await changesSince('globex', foreign)).toEqual([city])
  })

  test('appends all or nothing', async () => {
    const own = await head('acme')
    const answer = await notify('acme', ['tidemark:notify'], {
      entries: [
        { table: 'shipments', keys: ['1'] },
        { table: 'shipments', keys: ['1', 'not a number'] },
      ],
    })
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({
      error: {
        message: `"entries[1].keys": a key or scope value cannot be cast to its column's type; nothing was appended`,
        data: { tidemark: { code: 'invalidInput', retryable: false, field: 'entries[1].keys' } },
      },
    })
    expect(await changesSince('acme', own)).toEqual([])
    // The connection went back without an open transaction.
    const { rows } = await freight.pool.query('select pg_current_xact_id_if_assigned() as xid')
    expect(rows).toEqual([{ xid: null }])
  })

  test('is a mutation: a GET does nothing', async () => {
    const own = await head('acme')
    const { authorization } = await bearer('acme', ['tidemark:notify'])
    const input = encodeURIComponent(JSON.stringify({ entries: [{ table: 'shipments' }] }))
    const answer = await fetch(`${server.url}/trpc/sync.notify?input=${input}`, { headers: { authorization } })
    expect(answer.status).toBe(405)
    expect(await changesSince('acme', own)).toEqual([])
  })
})

describe('a feed that is not installed', () => {
  const entries = [{ table: 'shipments', keys: ['1'] }]
  const notMigrated = (path: string) => ({
    error: {
      code: -32603,
      message: 'the change feed is not installed yet; try again later',
      data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, path, tidemark: { code: 'notMigrated', retryable: true } },
    },
  })

  async function expectNotMigrated(own: TestServer): Promise<void> {
    const headers = await bearer('acme', ['tidemark:notify'])
    const notified = await post(`${own.url}/trpc/sync.notify`, { entries }, headers)
    const read = await get(`${own.url}/trpc/sync.changes`, { since: 'now' }, headers)
    expect([notified.status, notified.json]).toEqual([503, notMigrated('sync.notify')])
    expect([read.status, read.json]).toEqual([503, notMigrated('sync.changes')])
  }

  test('never', async () => {
    const feed = createFeed({ db: freight.db, tables: freightTables, schema: 'never_installed' })
    await using own = await listen(plainApp({ feed }).app)
    await expectNotMigrated(own)
  })

  test('any more, after this server has used it', async () => {
    await using dropped = await createFreight()
    await using own = await listen(plainApp({ feed: dropped.feed }).app)
    const used = await post(`${own.url}/trpc/sync.notify`, { entries }, await bearer('acme', ['tidemark:notify']))
    expect(used.status).toBe(200)
    await dropped.pool.query('drop schema tidemark cascade')
    await expectNotMigrated(own)
  })
})

describe('permit', () => {
  test.each([
    ['true', () => true, 200],
    ['a promise of true', async () => true, 200],
    ['false', () => false, 403],
    ['something true-ish', () => 'yes' as unknown as boolean, 403],
    ['undefined', () => undefined as unknown as boolean, 403],
  ])('that answers %s', async (_, permit, status) => {
    await using own = await listen(plainApp({ feed: freight.feed, permit }).app)
    const answer = await post(
      `${own.url}/trpc/sync.notify`,
      { entries: [{ table: 'shipments' }] },
      await bearer('acme'),
    )
    expect(answer.status).toBe(status)
  })

  test('that throws is an internal error, and nothing of it is sent', async () => {
    const failure = new Error('policy store at 10.0.0.7 is down')
    const seen: unknown[] = []
    const permit = () => {
      throw failure
    }
    await using own = await listen(
      plainApp({ feed: freight.feed, permit, onError: ({ error }) => void seen.push(error) }).app,
    )
    const answer = await post(
      `${own.url}/trpc/sync.notify`,
      { entries: [{ table: 'shipments' }] },
      await bearer('acme'),
    )
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('10.0.0.7')
    expect(seen).toEqual([failure])
  })

  test("sees the permission and the app's context", async () => {
    interface Context extends SyncContext {
      readonly role: string
    }
    const t = initTRPC.context<Context>().create()
    const asked: string[] = []
    const router = createSyncRouter(t, {
      feed: freight.feed,
      permit: (permission, ctx) => {
        asked.push(`${permission} for ${ctx.role}`)
        return ctx.role === 'importer'
      },
    })
    const caller = router.createCaller({ auth: verifiedAuth({ tenant: 'acme' }), role: 'importer' })
    await caller.notify({ entries: [{ table: 'cities' }] })
    expect(asked).toEqual(['tidemark:notify for importer', 'tidemark:notify-global for importer'])
  })
})
