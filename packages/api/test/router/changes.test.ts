import { createTRPCClient, httpLink } from '@trpc/client'
import superjson from 'superjson'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { listen } from '../support/http.ts'
import type { TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'

let freight: Freight
let servers: { plain: TestServer; superjson: TestServer }

beforeAll(async () => {
  freight = await createFreight()
  servers = {
    plain: await listen(plainApp({ feed: freight.feed }).app),
    superjson: await listen(superjsonApp({ feed: freight.feed }).app),
  }
})
afterAll(async () => {
  await servers?.plain.close()
  await servers?.superjson.close()
  await freight?.[Symbol.asyncDispose]()
})

async function clients(tenant: string) {
  const headers = await bearer(tenant)
  const plain = plainApp({ feed: freight.feed }).router
  const withSuperjson = superjsonApp({ feed: freight.feed }).router
  return {
    plain: createTRPCClient<typeof plain>({ links: [httpLink({ url: `${servers.plain.url}/trpc`, headers })] }),
    superjson: createTRPCClient<typeof withSuperjson>({
      links: [httpLink({ url: `${servers.superjson.url}/trpc`, headers, transformer: superjson })],
    }),
  }
}

describe.each(['plain', 'superjson'] as const)('changes through tRPC (%s)', (kind) => {
  test('a write reaches the client of its tenant, with key, operation and time and nothing else', async () => {
    const { sync } = (await clients(`acme-${kind}`))[kind]
    const head = await sync.changes.query({ since: 'now' })
    expect(head).toEqual({ changes: [], cursor: expect.any(String), hasMore: false, upToDate: true })
    if (!('changes' in head)) throw new Error('no page')

    const [id] = await ship(freight.db, `acme-${kind}`, 1)
    await ship(freight.db, `globex-${kind}`, 1)
    await freight.db
      .insertInto('legs')
      .values({ shipment_id: id!, n: 1, company_id: `acme-${kind}` })
      .execute()
    await freight.db
      .insertInto('cities')
      .values({ code: `c-${kind}`, name: 'Oulu' })
      .execute()
    await freight.db.deleteFrom('shipments').where('id', '=', id!).execute()

    const page = await sync.changes.query({ since: head.cursor })
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(page).toEqual({
      changes: [
        { table: 'shipments', key: String(id), operation: 'create', global: false, at },
        { table: 'legs', key: `["${id}","1"]`, operation: 'create', global: false, at },
        { table: 'cities', key: `c-${kind}`, operation: 'create', global: true, at },
        { table: 'shipments', key: String(id), operation: 'delete', global: false, at },
      ],
      cursor: expect.any(String),
      hasMore: false,
      upToDate: true,
    })
  })

  test('limit, hasMore and tables', async () => {
    const { sync } = (await clients(`pages-${kind}`))[kind]
    const head = await sync.changes.query({ since: 'now' })
    if (!('changes' in head)) throw new Error('no page')
    const ids = await ship(freight.db, `pages-${kind}`, 5)
    const first = await sync.changes.query({ since: head.cursor, limit: 2, tables: ['shipments'] })
    if (!('changes' in first)) throw new Error('no page')
    expect(first).toMatchObject({ hasMore: true, upToDate: false })
    const second = await sync.changes.query({ since: first.cursor, limit: 5000, tables: ['shipments', 'cities'] })
    if (!('changes' in second)) throw new Error('no page')
    expect([...first.changes, ...second.changes].map(({ key }) => key)).toEqual(ids.map(String))
    expect(await sync.changes.query({ since: head.cursor, tables: ['legs'] })).toMatchObject({
      changes: [],
      upToDate: true,
    })
  })

  test("another audience's cursor is a resync", async () => {
    const head = await (await clients('one'))[kind].sync.changes.query({ since: 'now' })
    if (!('changes' in head)) throw new Error('no page')
    expect(await (await clients('two'))[kind].sync.changes.query({ since: head.cursor })).toEqual({
      resync: { reason: 'audience', from: expect.any(String) },
    })
  })
})
