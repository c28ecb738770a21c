import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen, post } from '../support/http.ts'
import type { TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'
import { sentData } from '../support/wire.ts'
import type { SentData } from '../support/wire.ts'

let freight: Freight
let servers: Record<'plain' | 'superjson', TestServer>

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

/** Reads with the input by GET or POST, in the app's envelope. */
async function read(
  kind: 'plain' | 'superjson',
  method: 'GET' | 'POST',
  input: object,
  headers: Record<string, string>,
): Promise<SentData> {
  const url = `${servers[kind].url}/trpc/sync.changes`
  const wrapped = kind === 'plain' ? input : { json: input }
  const answer = method === 'GET' ? await get(url, wrapped, headers) : await post(url, wrapped, headers)
  return sentData(answer)
}

describe.each([
  ['plain', 'GET'],
  ['plain', 'POST'],
  ['superjson', 'GET'],
  ['superjson', 'POST'],
] as const)('B23 %s by %s', (kind, method) => {
  test('the cursor is text that no way of travelling changes, and the place in the feed is all it says', async () => {
    const tenant = `acme-${kind}-${method}`
    const headers = await bearer(tenant)
    let { cursor } = await read(kind, method, { since: 'now' }, headers)
    for (let i = 0; i < 20; i++) {
      // Safe in a URL as it is: nothing to escape, so nothing to unescape twice.
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,200}$/)
      expect(encodeURIComponent(cursor)).toBe(cursor)
      const [id] = await ship(freight.db, tenant, 1)
      const page = await read(kind, method, { since: cursor }, headers)
      expect(page.changes.map(({ key }) => key)).toEqual([String(id)])
      expect(page.cursor).not.toBe(cursor)
      // The same cursor again gives the same page again.
      const again = await read(kind, method, { since: cursor }, headers)
      expect(again.changes).toEqual(page.changes)
      cursor = page.cursor
    }
  })

  test("neither the client's clock nor a time in the data decides what is read", async () => {
    const tenant = `clock-${kind}-${method}`
    const headers = await bearer(tenant)
    const head = await read(kind, method, { since: 'now' }, headers)
    await freight.pool.query('alter table shipments add column if not exists updated_at timestamptz')
    await freight.pool.query(
      "insert into shipments (company_id, title, updated_at) values ($1, 'far ahead', '2100-01-01'), ($1, 'now', now())",
      [tenant],
    )
    await freight.pool.query(
      "insert into shipments (company_id, title, updated_at) values ($1, 'far behind', '1970-01-01')",
      [tenant],
    )
    const dates = { ahead: 'Fri, 01 Jan 2100 00:00:00 GMT', behind: 'Thu, 01 Jan 1970 00:00:00 GMT' }
    for (const date of Object.values(dates)) {
      const page = await read(kind, method, { since: head.cursor }, { ...headers, date, 'if-modified-since': date })
      expect(page.changes).toHaveLength(3)
    }
  })

  test("nor does the server's", async () => {
    const tenant = `server-${kind}-${method}`
    const headers = await bearer(tenant)
    const head = await read(kind, method, { since: 'now' }, headers)
    await ship(freight.db, tenant, 2)
    for (const date of ['2100-01-01', '1970-01-01']) {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(date) })
      try {
        expect((await read(kind, method, { since: head.cursor }, headers)).changes).toHaveLength(2)
      } finally {
        vi.useRealTimers()
      }
    }
  })
})
