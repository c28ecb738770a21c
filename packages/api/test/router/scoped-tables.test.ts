import { readChanges, tenant } from '@tidemark/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plainApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen, post } from '../support/http.ts'
import type { TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'
import { sentData, sentError } from '../support/wire.ts'

let freight: Freight
let server: TestServer
let headers: { authorization: string }

beforeAll(async () => {
  freight = await createFreight()
  server = await listen(plainApp({ feed: freight.scopedFeed }).app)
  headers = await bearer('acme', ['tidemark:notify'])
})
afterAll(async () => {
  await server?.close()
  await freight?.[Symbol.asyncDispose]()
})

test.each([
  ['named', ['shipments', 'dossiers'], 'tables[1]', /^"tables\[1\]": a table with scopes .* leave it out$/],
  ['alone', ['dossiers'], 'tables[0]', /leave it out$/],
  ['by leaving tables out', undefined, 'tables', /^"tables": .* name the tables you want$/],
])('changes refuses a table with scopes, %s', async (_, tables, field, message) => {
  for (const since of ['start', 'now', 'garbage']) {
    const answer = await get(`${server.url}/trpc/sync.changes`, { since, tables }, headers)
    expect(answer.status).toBe(400)
    const error = sentError(answer)
    expect(error.message).toMatch(message)
    expect(error.message).not.toMatch(/dossiers|team/)
    expect(error.data).toMatchObject({
      code: 'BAD_REQUEST',
      tidemark: { code: 'scopedTable', retryable: false, field },
    })
  }
})

test('changes serves the other tables, and nothing of the scoped one is among them', async () => {
  const head = await get(`${server.url}/trpc/sync.changes`, { since: 'now', tables: ['shipments'] }, headers)
  const { cursor } = sentData(head)
  await freight.db.insertInto('dossiers').values({ id: 1, company_id: 'acme', team: 3 }).execute()
  const [id] = await ship(freight.db, 'acme', 1)
  const page = await get(`${server.url}/trpc/sync.changes`, { since: cursor, tables: ['shipments'] }, headers)
  expect(page.json).toMatchObject({
    result: { data: { changes: [{ table: 'shipments', key: String(id) }], upToDate: true } },
  })
})

test('a scope value that Postgres cannot cast is told without a word of the transaction', async () => {
  const entries = [{ table: 'dossiers', scopes: { team: 'red' } }]
  const answer = await post(`${server.url}/trpc/sync.notify`, { entries }, headers)
  expect(answer.status).toBe(400)
  expect(sentError(answer).message).toMatch(/cannot be cast/)
  expect(answer.text).not.toMatch(/transaction|roll/)
})

test('notify records scope values, and asks for them when keys are given', async () => {
  const head = await readChanges(freight.scopedFeed, tenant('acme'), { since: 'now' })
  if (!('changes' in head)) throw new Error('no page')
  const missing = await post(
    `${server.url}/trpc/sync.notify`,
    { entries: [{ table: 'dossiers', keys: ['4'] }] },
    headers,
  )
  expect(missing.status).toBe(400)
  expect(missing.json).toMatchObject({ error: { data: { tidemark: { field: 'entries[0].scopes' } } } })
  const given = await post(
    `${server.url}/trpc/sync.notify`,
    { entries: [{ table: 'dossiers', keys: ['4'], scopes: { team: 3 } }] },
    headers,
  )
  expect(given.status).toBe(200)
  const page = await readChanges(freight.scopedFeed, tenant('acme'), { since: head.cursor })
  expect(page).toMatchObject({ changes: [{ table: 'dossiers', key: '4', operation: 'update' }] })
})
