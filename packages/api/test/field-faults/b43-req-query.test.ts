import express from 'express'
import type { RequestHandler } from 'express'
import { initTRPC } from '@trpc/server'
import { expect, test } from 'vitest'
import { verifiedAuth } from '../../src/index.ts'
import type { SyncContext } from '../../src/index.ts'
import { createSyncExpress } from '../../src/express.ts'
import { get, listen, post } from '../support/http.ts'

const t = initTRPC.context<SyncContext>().create()
const router = t.router({
  changes: t.procedure.input((value) => value as { since: string }).query(({ input }) => input.since),
})

// Stands for a validating middleware: reads the query, then makes any write to it an error.
const guardQuery: RequestHandler = (req, _res, next) => {
  const query = Object.freeze({ ...req.query })
  Object.defineProperty(req, 'query', {
    get: () => query,
    set: () => {
      throw new Error('req.query was written to')
    },
  })
  next()
}

test.each([
  ['as Express 5 makes it', undefined],
  ['behind a validating middleware', guardQuery],
])('B43 req.query is never written to, %s', async (_, middleware) => {
  const app = express()
  if (middleware !== undefined) app.use(middleware)
  let before: unknown
  app.use((req, _res, next) => {
    before = Object.getOwnPropertyDescriptor(req, 'query')
    next()
  })
  let after: unknown
  app.use((req, res, next) => {
    res.on('finish', () => {
      after = Object.getOwnPropertyDescriptor(req, 'query')
    })
    next()
  })
  app.use('/trpc', createSyncExpress({ router, auth: () => verifiedAuth({ tenant: 'acme' }) }))
  await using server = await listen(app)
  for (const answer of [
    await get(`${server.url}/trpc/changes`, { since: 'now' }),
    await post(`${server.url}/trpc/changes`, { since: 'now' }),
  ]) {
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ result: { data: 'now' } })
    expect(after).toEqual(before)
  }
})

test.each(['simple', 'extended', false])('B43 whatever the app sets as "query parser" (%s)', async (parser) => {
  const app = express()
  app.set('query parser', parser)
  app.use('/trpc', createSyncExpress({ router, auth: () => verifiedAuth({ tenant: 'acme' }) }))
  await using server = await listen(app)
  const answer = await get(`${server.url}/trpc/changes`, { since: 'a[b]=c&d' })
  expect(answer.json).toEqual({ result: { data: 'a[b]=c&d' } })
})
