import superjson from 'superjson'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { listen, send } from '../support/http.ts'
import type { Answer, TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'

let freight: Freight
let servers: Record<'superjson' | 'plain', TestServer>
let headers: Record<string, string>

beforeAll(async () => {
  freight = await createFreight()
  servers = {
    superjson: await listen(superjsonApp({ feed: freight.feed }).app),
    plain: await listen(plainApp({ feed: freight.feed }).app),
  }
  headers = await bearer('acme', ['tidemark:notify'])
  await ship(freight.db, 'acme', 3)
})
afterAll(async () => {
  await servers?.superjson.close()
  await servers?.plain.close()
  await freight?.[Symbol.asyncDispose]()
})

/** Sends raw text as input in every way a query can travel. */
async function everyWay(kind: 'superjson' | 'plain', input: string | undefined): Promise<Answer[]> {
  const url = `${servers[kind].url}/trpc/sync.changes`
  const query = (text: string) => `input=${encodeURIComponent(text)}`
  const json = { ...headers, 'content-type': 'application/json' }
  return [
    await send(input === undefined ? url : `${url}?${query(input)}`, { headers }),
    await send(url, { method: 'POST', headers: json, ...(input !== undefined && { body: input }) }),
    await send(input === undefined ? `${url}?batch=1` : `${url}?batch=1&${query(`{"0":${input}}`)}`, { headers }),
    await send(`${url}?batch=1`, {
      method: 'POST',
      headers: json,
      body: input === undefined ? '{}' : `{"0":${input}}`,
    }),
  ]
}

const outside: Record<'superjson' | 'plain', [title: string, input: string | undefined][]> = {
  superjson: [
    ['no input', undefined],
    ['the plain input', '{"since":"start"}'],
    ['a cursor in the clear', '{"cursor":"AQ"}'],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a text', '"start"'],
    ['a number', '0'],
    ['a list', '[{"since":"start"}]'],
    ['an envelope of nothing', '{"json":null}'],
    ['an empty envelope', '{"json":{}}'],
    ['the envelope of another transformer', '{"data":{"since":"start"}}'],
    ['an envelope in an envelope', '{"json":{"json":{"since":"start"}}}'],
    ['meta that unmakes since', '{"json":{"since":null},"meta":{"values":{"since":["undefined"]}}}'],
    ['meta that unmakes the input', '{"json":null,"meta":{"values":["undefined"]}}'],
    ['since as a Date', '{"json":{"since":"2024-01-01T00:00:00Z"},"meta":{"values":{"since":["Date"]}}}'],
    ['since as a set', '{"json":{"since":["start"]},"meta":{"values":{"since":["set"]}}}'],
    ['since as a number', '{"json":{"since":"NaN"},"meta":{"values":{"since":["number"]}}}'],
    ['a custom type that nobody knows', '{"json":{"since":"start"},"meta":{"values":{"since":[["custom","x"]]}}}'],
    ['a symbol', '{"json":{"since":"start"},"meta":{"values":{"since":[["symbol","x"]]}}}'],
    ['meta for a path that is not there', '{"json":{"since":5},"meta":{"values":{"a.b.c":["Date"]}}}'],
    ['meta of the wrong shape', '{"json":{"since":"start"},"meta":{"values":5},"x":{"since":1}}'],
    ['a way to the prototype', '{"json":{"__proto__":{"since":"start"}}}'],
    ['a way to the prototype through meta', '{"json":{"a":1},"meta":{"values":{"__proto__.since":["Date"]}}}'],
  ],
  plain: [
    ['no input', undefined],
    ["superjson's envelope", '{"json":{"since":"start"}}'],
    ['a cursor under another name', '{"cursor":"AQ"}'],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a text', '"start"'],
    ['a list', '["start"]'],
    ['a way to the prototype', '{"__proto__":{"since":"start"}}'],
  ],
}

describe.each(['superjson', 'plain'] as const)('B63 %s', (kind) => {
  test.each(outside[kind])('%s is a 400 and never starts the feed', async (title, input) => {
    for (const answer of await everyWay(kind, input)) {
      // "meta of the wrong shape" is one that superjson reads over: then the input inside counts.
      if (title === 'meta of the wrong shape' && answer.status === 200) continue
      expect(answer.status, answer.text).toBe(400)
      expect(answer.text).not.toContain('"changes"')
      expect(answer.text).toContain('BAD_REQUEST')
      expect(answer.text).not.toMatch(/stack|superjson|deserializ/i)
    }
  })

  test('text that is no JSON is a 400', async () => {
    const url = `${servers[kind].url}/trpc/sync.changes`
    for (const answer of [
      await send(`${url}?input=${encodeURIComponent('{"since":')}`, { headers }),
      await send(`${url}?input=start`, { headers }),
      await send(`${url}?input=`, { headers }),
      await send(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: 'since=start',
      }),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.text).not.toMatch(/Unexpected|position|stack/)
    }
  })

  test('the right envelope is a 200 in every way', async () => {
    const input =
      kind === 'superjson' ? superjson.stringify({ since: 'start', limit: 1 }) : '{"since":"start","limit":1}'
    for (const answer of await everyWay(kind, input)) {
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('"changes"')
    }
  })

  test('notify outside the envelope is a 400 and announces nothing', async () => {
    const count = async () => (await freight.pool.query('select count(*) from tidemark.log')).rows[0].count
    const before = await count()
    const inputs =
      kind === 'superjson'
        ? ['{"entries":[{"table":"shipments"}]}', '{}', '']
        : ['{"json":{"entries":[{"table":"shipments"}]}}', '{}', '']
    for (const body of inputs) {
      const answer = await send(`${servers[kind].url}/trpc/sync.notify`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
      expect(answer.status).toBe(400)
    }
    expect(await count()).toBe(before)
  })
})
