import { gzipSync } from 'node:zlib'
import express from 'express'
import type { Express, RequestHandler } from 'express'
import { initTRPC } from '@trpc/server'
import { describe, expect, test } from 'vitest'
import { originalError, verifiedAuth } from '../../src/index.ts'
import type { SyncContext } from '../../src/index.ts'
import { createSyncExpress } from '../../src/express.ts'
import { listen, post, send } from '../support/http.ts'
import type { Answer, SendOptions } from '../support/http.ts'

const LIMIT = 100 * 1024
const t = initTRPC.context<SyncContext>().create({ isDev: true })
const router = t.router({
  size: t.procedure.input((value) => value).query(({ input }) => JSON.stringify(input ?? null).length),
})

function app(
  before: RequestHandler[],
  after: RequestHandler[] = [],
  onError: (e: unknown) => void = () => {},
): Express {
  const made = express()
  if (before.length > 0) made.use(before)
  made.use(
    '/trpc',
    createSyncExpress({
      router,
      auth: () => verifiedAuth({ tenant: 'acme' }),
      maxBodyBytes: LIMIT,
      onError: ({ error }) => onError(originalError(error)),
    }),
  )
  if (after.length > 0) made.use(after)
  return made
}

const orders: Record<string, () => Express> = {
  'no parser': () => app([]),
  'parsers after the mount': () => app([], [express.json(), express.urlencoded()]),
  'json before': () => app([express.json()]),
  'json and urlencoded before': () => app([express.json(), express.urlencoded({ extended: true })]),
  'text before': () => app([express.text({ type: 'application/json' })]),
  'a lenient json before': () => app([express.json({ strict: false, type: () => true })]),
}

const json = { 'content-type': 'application/json' }
const good: Record<string, SendOptions> = {
  'a small body': { method: 'POST', headers: json, body: '{"since":"now"}' },
  'a charset': { method: 'POST', headers: { 'content-type': 'Application/JSON; charset=utf-8' }, body: '{"a":"é"}' },
  'an empty object': { method: 'POST', headers: json, body: '{}' },
  'an array': { method: 'POST', headers: json, body: '[1,2]' },
  '10 KB': { method: 'POST', headers: json, body: JSON.stringify({ a: 'x'.repeat(10_000) }) },
  'exactly the limit': { method: 'POST', headers: json, body: JSON.stringify({ a: 'x'.repeat(LIMIT - 8) }) },
  'a chunked body': { method: 'POST', headers: { ...json, 'transfer-encoding': 'chunked' }, body: '{"a":1}' },
}
const bad: Record<string, readonly [SendOptions, number]> = {
  '200 KB': [{ method: 'POST', headers: json, body: JSON.stringify({ a: 'x'.repeat(200_000) }) }, 413],
  'one byte too many': [{ method: 'POST', headers: json, body: JSON.stringify({ a: 'x'.repeat(LIMIT - 7) }) }, 413],
  '200 KB in chunks': [
    {
      method: 'POST',
      headers: { ...json, 'transfer-encoding': 'chunked' },
      body: JSON.stringify({ a: 'x'.repeat(200_000) }),
    },
    413,
  ],
  'half an object': [{ method: 'POST', headers: json, body: '{"since":' }, 400],
  'no JSON': [{ method: 'POST', headers: json, body: 'since=now' }, 400],
  'a form': [
    { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'since=now' },
    415,
  ],
  'no content type': [{ method: 'POST', body: '{"since":"now"}' }, 415],
}

function summary({ status, headers, text }: Answer) {
  return { status, type: headers['content-type'], cache: headers['cache-control'], text }
}

describe.each(Object.entries(orders))('with %s', (_, make) => {
  test.each(Object.entries(good))('%s is answered as without any parser', async (_name, options) => {
    await using reference = await listen(orders['no parser']!())
    await using server = await listen(make())
    for (const path of ['/trpc/size', '/trpc/size/']) {
      const expected = await send(`${reference.url}${path}`, options)
      expect(expected.status).toBe(200)
      expect(summary(await send(`${server.url}${path}`, options))).toEqual(summary(expected))
    }
    const batch = { ...options, body: `{"0":${String(options.body)}}` }
    if (Buffer.byteLength(batch.body) > LIMIT) return
    const expected = await send(`${reference.url}/trpc/size,size?batch=1`, batch)
    expect(expected.status).toBe(200)
    expect(summary(await send(`${server.url}/trpc/size,size?batch=1`, batch))).toEqual(summary(expected))
  })

  test.each(Object.entries(bad))("%s is refused in tRPC's error shape", async (_name, [options, status]) => {
    await using server = await listen(make())
    for (const [path, at] of [
      ['/trpc/size', undefined],
      ['/trpc/size,size?batch=1', 1],
    ] as const) {
      const answer = await send(`${server.url}${path}`, options)
      expect(answer.status).toBe(status)
      expect(answer.headers['content-type']).toMatch(/^application\/json/)
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.text).not.toMatch(/stack|node_modules|<html|<pre/i)
      // A refusal before the calls are told apart is one error; afterwards it is one for each call.
      const answers = Array.isArray(answer.json) ? answer.json : [answer.json]
      if (status !== 415 && at !== undefined) expect(answers).toHaveLength(at + 1)
      for (const each of answers) expect(each).toMatchObject({ error: { data: { httpStatus: status } } })
    }
  })
})

test('the operator hears why a body was refused', async () => {
  const seen: unknown[] = []
  await using server = await listen(app([express.json()], [], (error) => seen.push(error)))
  await post(`${server.url}/trpc/size`, '{')
  expect(seen).toEqual([expect.objectContaining({ type: 'entity.parse.failed' })])
})

test('a compressed body is read when a parser of the app has unpacked it', async () => {
  const options = { method: 'POST', headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync('{"a":1}') }
  await using server = await listen(app([express.json()]))
  expect((await send(`${server.url}/trpc/size`, options)).json).toEqual({ result: { data: 7 } })
  await using bare = await listen(app([]))
  expect((await send(`${bare.url}/trpc/size`, options)).status).toBe(400)
})

test("an error of anything else before the mount stays the app's", async () => {
  const made = app([
    () => {
      throw Object.assign(new Error('theirs'), { status: 418 })
    },
  ])
  const errors: unknown[] = []
  made.use(((error, _req, res, _next) => {
    errors.push(error)
    res.status(error.status).end('theirs')
  }) as express.ErrorRequestHandler)
  await using server = await listen(made)
  const answer = await post(`${server.url}/trpc/size`, {})
  expect(answer).toMatchObject({ status: 418, text: 'theirs' })
  expect(errors).toHaveLength(1)
})
