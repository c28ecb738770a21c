import express from 'express'
import type { Express } from 'express'
import { initTRPC, TRPCError } from '@trpc/server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { originalError, unverifiedAuth, verifiedAuth } from '../../src/index.ts'
import type { SyncContext } from '../../src/index.ts'
import { createSyncExpress } from '../../src/express.ts'
import { get, listen, post, send } from '../support/http.ts'

interface Context extends SyncContext {
  readonly requestId: string
}

const t = initTRPC.context<Context>().create({ isDev: true })
const router = t.router({
  who: t.procedure.query(({ ctx }) => ({
    tenant: ctx.auth.verified ? ctx.auth.tenant : null,
    requestId: ctx.requestId,
  })),
  echo: t.procedure.input((value) => value).mutation(({ input }) => input),
  fail: t.procedure.query(() => {
    throw new Error('select secret from /srv/app')
  }),
})
const auth = () => verifiedAuth({ tenant: 'acme' })
const createContext = () => ({ requestId: 'r1' })

function mounted(options: object = {}): Express {
  const app = express()
  app.use('/trpc', createSyncExpress({ router, auth, createContext, ...options }))
  return app
}

afterEach(() => vi.restoreAllMocks())

describe('the context', () => {
  test("has auth and the app's own fields; auth is not the app's to replace", async () => {
    await using server = await listen(
      mounted({ createContext: () => ({ requestId: 'r2', auth: verifiedAuth({ tenant: 'other' }) }) }),
    )
    expect((await get(`${server.url}/trpc/who`)).json).toEqual({
      result: { data: { tenant: 'acme', requestId: 'r2' } },
    })
  })

  test('createContext sees request, response, info and auth', async () => {
    const seen: object[] = []
    const app = mounted({
      createContext: (options: {
        req: { path: string }
        info: { calls: unknown[] }
        auth: { tenant: string }
        res: object
      }) => {
        seen.push({
          path: options.req.path,
          calls: options.info.calls.length,
          tenant: options.auth.tenant,
          res: typeof options.res,
        })
        return { requestId: 'r3' }
      },
    })
    await using server = await listen(app)
    await get(`${server.url}/trpc/who`)
    expect(seen).toEqual([{ path: '/who', calls: 1, tenant: 'acme', res: 'object' }])
  })

  test('an unknown error of createContext is not sent, and is told to onError', async () => {
    const seen: unknown[] = []
    const failure = new Error('connect ECONNREFUSED 10.0.0.5:5432 /srv/app/session.ts')
    const app = mounted({
      createContext: () => {
        throw failure
      },
      onError: ({ error }: { error: unknown }) => seen.push(originalError(error)),
    })
    await using server = await listen(app)
    const answer = await get(`${server.url}/trpc/who`)
    expect(answer.status).toBe(500)
    expect(answer.text).not.toMatch(/ECONNREFUSED|srv|stack/)
    expect(seen).toEqual([failure])
  })

  test('without onError an unknown error of createContext goes to console.error', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const failure = new Error('no session store')
    await using server = await listen(mounted({ createContext: () => Promise.reject(failure) }))
    await get(`${server.url}/trpc/who`)
    expect(log).toHaveBeenCalledExactlyOnceWith('tidemark: createContext failed', failure)
  })

  test("a tRPC error of createContext is the app's own word", async () => {
    const app = mounted({
      createContext: () => {
        throw new TRPCError({ code: 'PAYMENT_REQUIRED', message: 'pay first' })
      },
    })
    await using server = await listen(app)
    const answer = await get(`${server.url}/trpc/who`)
    expect(answer.json).toEqual({
      error: { code: -32002, message: 'pay first', data: { code: 'PAYMENT_REQUIRED', httpStatus: 402, path: 'who' } },
    })
  })

  test('when auth throws, the caller is unverified for the moment and the app decides', async () => {
    const app = mounted({
      auth: () => {
        throw new Error('session store is down')
      },
    })
    await using server = await listen(app)
    expect((await get(`${server.url}/trpc/who`)).json).toEqual({ result: { data: { tenant: null, requestId: 'r1' } } })
  })
})

describe('answers', () => {
  test.each(['isDev', 'production', 'development', ''])(
    'carry no stack whatever isDev and NODE_ENV say (%s)',
    async (environment) => {
      vi.stubEnv('NODE_ENV', environment === 'isDev' ? 'test' : environment)
      const own = environment === 'isDev' ? t : initTRPC.context<Context>().create()
      const failing = own.router({
        fail: own.procedure.query(() => {
          throw new Error('boom')
        }),
        echo: own.procedure.input((value) => value).mutation(({ input }) => input),
      })
      const app = express()
      app.use('/trpc', createSyncExpress({ router: failing, auth, createContext, onError: () => {} }))
      await using server = await listen(app)
      for (const answer of [
        await get(`${server.url}/trpc/fail`),
        await get(`${server.url}/trpc/nothing`),
        await get(`${server.url}/trpc/fail,fail?batch=1`),
        await get(`${server.url}/trpc/%E0%A4%A`),
        await post(`${server.url}/trpc/echo`, '{'),
        await send(`${server.url}/trpc/echo`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }),
        await send(`${server.url}/trpc/echo`, { method: 'DELETE' }),
      ]) {
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(JSON.stringify(answer.json)).toContain('"error"')
        expect(answer.text).not.toMatch(/stack|node_modules|\.ts|<html/i)
      }
    },
  )

  test('an error formatter that throws leaks nothing and ends nothing', async () => {
    const own = initTRPC.context<Context>().create({
      errorFormatter: () => {
        throw new Error('formatter broke at /srv/app/format.ts')
      },
    })
    const app = express()
    app.use('/trpc', createSyncExpress({ router: own.router({}), auth, createContext }))
    await using server = await listen(app)
    const answer = await get(`${server.url}/trpc/nothing`)
    expect(answer.status).toBe(500)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.text).not.toMatch(/srv|broke/)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('logger broke')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('logger broke')
      },
    ],
  ])('an onError hook that %s becomes a warning', async (_, onError) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await using server = await listen(mounted({ onError }))
    const answer = await get(`${server.url}/trpc/nothing`)
    expect(answer.status).toBe(404)
    expect(warned).toHaveBeenCalledOnce()
    expect(String(warned.mock.calls[0]?.[0])).toContain('logger broke')
  })
})

describe('options', () => {
  test.each([
    ['no router', { router: undefined }, '"router"'],
    ['no auth', { auth: undefined }, '"auth"'],
    ['a caller in place of a function', { auth: unverifiedAuth('missing') }, '"auth"'],
    ['no room for a body', { maxBodyBytes: 0 }, '"maxBodyBytes"'],
    ['a size that is no number', { maxBodyBytes: Number.NaN }, '"maxBodyBytes"'],
    ['half a call', { maxBatchSize: 1.5 }, '"maxBatchSize"'],
  ])('%s is refused at start', (_, options, name) => {
    expect(() => mounted(options)).toThrow(TypeError)
    expect(() => mounted(options)).toThrow(name)
  })

  test('a batch beyond maxBatchSize is a 400 and runs nothing', async () => {
    const run = vi.fn(createContext)
    await using server = await listen(mounted({ createContext: run }))
    expect((await get(`${server.url}/trpc/${','.repeat(5000)}?batch=1`)).status).toBe(400)
    expect(run).not.toHaveBeenCalled()
  })
})
