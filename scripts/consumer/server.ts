import { createSyncRouter, jwtAuth, tidemarkErrorShape } from '@tidemark/api'
import type { SyncContext } from '@tidemark/api'
import { createSyncExpress } from '@tidemark/api/express'
import { initTRPC } from '@trpc/server'
import express from 'express'
import { feed } from './database.ts'

interface Context extends SyncContext {
  readonly requestId: string
}

interface Meta {
  readonly audit: boolean
}

/** The app's own `t`: meta, an error formatter, no transformer. */
const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    errorFormatter: ({ error, shape, ctx }) =>
      tidemarkErrorShape({ error, shape: { ...shape, data: { ...shape.data, requestId: ctx?.requestId ?? null } } }),
  })

export const appRouter = t.router({
  tasks: t.router({ count: t.procedure.meta({ audit: true }).query(() => 3) }),
  sync: createSyncRouter(t, { feed }),
})

export type AppRouter = typeof appRouter

const app = express()
const auth = jwtAuth({
  key: new TextEncoder().encode('a shared secret of at least 32 bytes'),
  algorithms: ['HS256'],
  issuer: 'https://issuer.example',
  audience: 'tasks',
  tenantClaim: 'org_id',
})
app.use('/trpc', createSyncExpress({ router: appRouter, auth, createContext: () => ({ requestId: 'r1' }) }))

// @ts-expect-error the app's own part of the context is missing
createSyncExpress({ router: appRouter, auth })

const withoutTenant = initTRPC.context<{ requestId: string }>().create()
// @ts-expect-error a context without `auth` knows no tenant
createSyncRouter(withoutTenant, { feed })

/** The app's meta arrives in the type of our procedures. */
export const meta: Meta = appRouter.sync.changes.meta
// @ts-expect-error it is the app's own type, not `any`
export const notAny: number = appRouter.sync.changes.meta
