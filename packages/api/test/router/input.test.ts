import superjson from 'superjson'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncLimits } from '../../src/index.ts'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { listen, post } from '../support/http.ts'
import type { Answer, TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'
import { sentData, sentError } from '../support/wire.ts'

let freight: Freight
let plain: TestServer
let withSuperjson: TestServer
let headers: { authorization: string }

beforeAll(async () => {
  freight = await createFreight()
  plain = await listen(plainApp({ feed: freight.feed }).app)
  withSuperjson = await listen(superjsonApp({ feed: freight.feed }).app)
  headers = await bearer('acme', ['tidemark:notify', 'tidemark:notify-global'])
  await ship(freight.db, 'acme', 3)
})
afterAll(async () => {
  await plain?.close()
  await withSuperjson?.close()
  await freight?.[Symbol.asyncDispose]()
})

/** Sends one input to both apps, which must answer the same. */
async function call(procedure: 'changes' | 'notify', input: unknown): Promise<Answer> {
  const first = await post(`${plain.url}/trpc/sync.${procedure}`, JSON.stringify(input), headers)
  const second = await post(`${withSuperjson.url}/trpc/sync.${procedure}`, { json: input }, headers)
  expect(second.status).toBe(first.status)
  if (first.status !== 200) expect(sentError(second)).toEqual(sentError(first))
  return first
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`)

const badChanges: [title: string, input: unknown, field: string | undefined, message: RegExp][] = [
  ['nothing', null, undefined, /must be an object/],
  ['a text', 'now', undefined, /must be an object/],
  ['an array', [], undefined, /must be an object/],
  ['no since', {}, 'since', /a cursor, 'start' or 'now'/],
  ['since null', { since: null }, 'since', /a cursor/],
  ['since a number', { since: 0 }, 'since', /a cursor/],
  ['since empty', { since: '' }, 'since', /a cursor/],
  ['since an array', { since: ['now'] }, 'since', /a cursor/],
  ['since too long', { since: 'x'.repeat(syncLimits.cursorLength + 1) }, 'since', /65,536/],
  ['since with NUL', { since: 'a\0b' }, 'since', /not a cursor of this feed/],
  ['since in capitals', { since: 'NOW' }, 'since', /not a cursor of this feed/],
  ['a misspelt field', { since: 'now', table: ['shipments'] }, 'table', /no such field/],
  [
    'a hostile field name',
    { since: 'now', '<script>alert(1)</script>': 1 },
    undefined,
    /^no such field; leave it out$/,
  ],
  ['waitMs, which does not exist yet', { since: 'now', waitMs: 5 }, 'waitMs', /no such field/],
  ['a tenant', { since: 'now', tenant: 'globex' }, 'tenant', /no such field/],
  ['tables a text', { since: 'now', tables: 'shipments' }, 'tables', /1 to 200/],
  ['tables empty', { since: 'now', tables: [] }, 'tables', /1 to 200/],
  ['tables null', { since: 'now', tables: null }, 'tables', /1 to 200/],
  ['too many tables', { since: 'now', tables: names(201) }, 'tables', /1 to 200/],
  ['a table that is no text', { since: 'now', tables: ['shipments', 1] }, 'tables[1]', /name of a declared table/],
  ['a table name too long', { since: 'now', tables: ['x'.repeat(257)] }, 'tables[0]', /256/],
  ['an unknown table', { since: 'now', tables: ['shipments', 'wage'] }, 'tables[1]', /declares no table of this name/],
  [
    'a table named like a member of every object',
    { since: 'now', tables: ['constructor'] },
    'tables[0]',
    /declares no table/,
  ],
  ['limit 0', { since: 'now', limit: 0 }, 'limit', /1 to 5,000/],
  ['limit negative', { since: 'now', limit: -1 }, 'limit', /1 to 5,000/],
  ['limit too large', { since: 'now', limit: 5001 }, 'limit', /1 to 5,000/],
  ['limit a fraction', { since: 'now', limit: 1.5 }, 'limit', /1 to 5,000/],
  ['limit a text', { since: 'now', limit: '5' }, 'limit', /1 to 5,000/],
  ['limit null', { since: 'now', limit: null }, 'limit', /1 to 5,000/],
]

describe('changes', () => {
  test.each(badChanges)('refuses %s', async (_, input, field, message) => {
    const answer = await call('changes', input)
    expect(answer.status).toBe(400)
    const error = sentError(answer)
    expect(error.message).toMatch(message)
    const code = /not a cursor of/.test(error.message)
      ? 'invalidCursor'
      : /no table/.test(error.message)
        ? 'unknownTable'
        : 'invalidInput'
    expect(error.data.tidemark).toEqual({ code, retryable: false, ...(field === undefined ? {} : { field }) })
    expect(error.data.code).toBe('BAD_REQUEST')
  })

  test('an error of one table names no other', async () => {
    const { text } = await call('changes', { since: 'now', tables: ['wages'] })
    expect(text).not.toMatch(/shipments|legs|cities|wages/)
  })

  test.each([
    ['the smallest limit', { since: 'start', limit: 1 }],
    ['the largest limit', { since: 'start', limit: 5000 }],
    ['a table named twice', { since: 'start', tables: ['shipments', 'shipments'] }],
    [
      'since of the greatest length (of a format it does not know, so a resync)',
      { since: 'x'.repeat(syncLimits.cursorLength) },
    ],
    ['200 names', { since: 'start', tables: names(200).map(() => 'cities') }],
  ])('takes %s', async (_, input) => {
    const answer = await call('changes', input)
    expect(answer.status).toBe(200)
    expect(sentData(answer).cursor ?? sentData(answer).resync.from).toBeTypeOf('string')
  })

  test('the default limit is 500', async () => {
    const { cursor } = sentData(await call('changes', { since: 'now' }))
    await ship(freight.db, 'acme', 501)
    const page = sentData(await call('changes', { since: cursor }))
    expect(page.changes).toHaveLength(500)
    expect(page.hasMore).toBe(true)
  })

  test('undefined counts as left out, with a transformer that can say so', async () => {
    const input = superjson.serialize({ since: 'now', tables: undefined, limit: undefined })
    expect((await post(`${withSuperjson.url}/trpc/sync.changes`, input, headers)).status).toBe(200)
  })
})

const keys = (count: number) => Array.from({ length: count }, (_, i) => String(i))
const entry = { table: 'shipments', keys: ['1'] }
const badNotify: [title: string, input: unknown, field: string | undefined, message: RegExp][] = [
  ['nothing', null, undefined, /must be an object/],
  ['no entries', {}, 'entries', /1 to 100/],
  ['empty entries', { entries: [] }, 'entries', /1 to 100/],
  ['too many entries', { entries: names(101).map(() => entry) }, 'entries', /1 to 100/],
  ['an entry that is a text', { entries: ['shipments'] }, 'entries[0]', /must be an object/],
  ['no table', { entries: [entry, {}] }, 'entries[1].table', /name of a declared table/],
  ['an unknown table', { entries: [entry, { table: 'wages' }] }, 'entries[1].table', /declares no table/],
  ['keys a text', { entries: [{ table: 'shipments', keys: '1' }] }, 'entries[0].keys', /key texts/],
  ['keys empty', { entries: [{ table: 'shipments', keys: [] }] }, 'entries[0].keys', /key texts/],
  [
    'a key that is a number',
    { entries: [{ table: 'shipments', keys: ['1', 2] }] },
    'entries[0].keys[1]',
    /canonical key text/,
  ],
  ['an empty key', { entries: [{ table: 'shipments', keys: [''] }] }, 'entries[0].keys[0]', /canonical key text/],
  ['a key too long', { entries: [{ table: 'cities', keys: ['x'.repeat(4097)] }] }, 'entries[0].keys[0]', /4,096/],
  [
    'too many keys in one entry',
    { entries: [{ table: 'shipments', keys: keys(10_001) }] },
    'entries[0].keys',
    /10,000/,
  ],
  [
    'too many keys in all',
    {
      entries: [
        { ...entry, keys: keys(5000) },
        { ...entry, keys: keys(5001) },
      ],
    },
    'entries',
    /10,000 keys in all/,
  ],
  ['a key that is no integer', { entries: [{ table: 'shipments', keys: ['x'] }] }, 'entries[0].keys', /./],
  ['a composite key of one part', { entries: [{ table: 'legs', keys: ['["1"]'] }] }, 'entries[0].keys[0]', /./],
  ['scopes a text', { entries: [{ ...entry, scopes: 'x' }] }, 'entries[0].scopes', /scope columns/],
  ['scopes empty', { entries: [{ ...entry, scopes: {} }] }, 'entries[0].scopes', /scope columns/],
  [
    'too many scopes',
    { entries: [{ ...entry, scopes: Object.fromEntries(names(17).map((n) => [n, 1])) }] },
    'entries[0].scopes',
    /1 to 16/,
  ],
  [
    'a scope value that is an object',
    { entries: [{ ...entry, scopes: { a: {} } }] },
    'entries[0].scopes.a',
    /number, a boolean or null/,
  ],
  [
    'a scope value too long',
    { entries: [{ ...entry, scopes: { a: 'x'.repeat(4097) } }] },
    'entries[0].scopes.a',
    /4,096/,
  ],
  [
    'a scope the table does not declare',
    { entries: [{ ...entry, scopes: { team: 1 } }] },
    'entries[0].scopes.team',
    /./,
  ],
  ['a reason too long', { entries: [entry], reason: 'x'.repeat(201) }, 'reason', /200/],
  ['a reason that is a number', { entries: [entry], reason: 1 }, 'reason', /200/],
  ['an actor', { entries: [entry], actor: 'admin' }, 'actor', /no such field/],
  ['a tenant', { entries: [entry], tenant: 'globex' }, 'tenant', /no such field/],
  ['an operation', { entries: [{ ...entry, operation: 'delete' }] }, 'entries[0].operation', /no such field/],
]

async function logLength(): Promise<string> {
  return (await freight.pool.query('select count(*) from tidemark.log')).rows[0].count
}

describe('notify', () => {
  test.each(badNotify)('refuses %s', async (_, input, field, message) => {
    const before = await logLength()
    const answer = await call('notify', input)
    expect(answer.status).toBe(400)
    const error = sentError(answer)
    expect(error.message).toMatch(message)
    expect(error.data.tidemark).toMatchObject({
      retryable: false,
      ...(field === undefined ? {} : { field: expect.stringContaining(field) }),
    })
    expect(await logLength()).toBe(before)
  })

  test('takes the most it may', async () => {
    const answer = await call('notify', {
      entries: [{ table: 'shipments', keys: keys(10_000) }],
      reason: 'x'.repeat(200),
    })
    expect(answer.status).toBe(200)
    expect(sentData(answer)).toEqual({ token: expect.any(String), tables: ['shipments'], changes: 10_000 })
  })
})
