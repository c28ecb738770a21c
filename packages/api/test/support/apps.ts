import type { FeedTable } from '@tidemark/core'
import { initTRPC } from '@trpc/server'
import type { TRPCBuiltRouter, TRPCDefaultErrorShape, TRPCErrorFormatter } from '@trpc/server'
import express from 'express'
import type { Express } from 'express'
import superjson from 'superjson'
import { createSyncExpress } from '../../src/express.ts'
import { createSyncRouter, tidemarkErrorShape } from '../../src/index.ts'
import type {
  Authenticate,
  SyncContext,
  SyncProcedures,
  SyncRouterOptions,
  WithTidemarkError,
} from '../../src/index.ts'
import { testAuth } from './tokens.ts'

/** How an app of the tests differs from the next. */
export interface AppOptions<DB, TT> extends SyncRouterOptions<DB, TT> {
  readonly auth?: Authenticate
  readonly isDev?: boolean
  readonly formatter?: TRPCErrorFormatter<SyncContext, TRPCDefaultErrorShape>
}

interface Root<Transformer extends boolean> {
  ctx: SyncContext
  meta: object
  errorShape: WithTidemarkError<TRPCDefaultErrorShape>
  transformer: Transformer
}

/** The router of a test app: `sync` under the app's own root. */
export type AppRouter<DB, TT, Transformer extends boolean> = TRPCBuiltRouter<
  Root<Transformer>,
  { sync: SyncProcedures<Root<Transformer>, FeedTable<DB, TT>> }
>

/** A router and an Express app that serves it under `/trpc`. */
export interface TestApp<Router> {
  readonly router: Router
  readonly app: Express
}

/** Does nothing with an error: for tests that provoke them on purpose. */
function quiet(): void {}

/** An app without a transformer. */
export function plainApp<DB, TT>(options: AppOptions<DB, TT>): TestApp<AppRouter<DB, TT, false>> {
  const t = initTRPC.context<SyncContext>().create(config(options))
  const router = t.router({ sync: createSyncRouter(t, { onError: quiet, ...options }) })
  return { router, app: mounted(createSyncExpress({ router, auth: options.auth ?? testAuth() })) }
}

/** The same app with superjson as its transformer. */
export function superjsonApp<DB, TT>(options: AppOptions<DB, TT>): TestApp<AppRouter<DB, TT, true>> {
  const t = initTRPC.context<SyncContext>().create({ transformer: superjson, ...config(options) })
  const router = t.router({ sync: createSyncRouter(t, { onError: quiet, ...options }) })
  return { router, app: mounted(createSyncExpress({ router, auth: options.auth ?? testAuth() })) }
}

function config<DB, TT>({ isDev, formatter }: AppOptions<DB, TT>) {
  const errorFormatter: TRPCErrorFormatter<SyncContext, Root<true>['errorShape']> = (event) =>
    tidemarkErrorShape({ error: event.error, shape: formatter?.(event) ?? event.shape })
  return { errorFormatter, ...(isDev === undefined ? {} : { isDev }) }
}

function mounted(mount: ReturnType<typeof createSyncExpress>): Express {
  const app = express()
  app.use('/trpc', mount)
  return app
}
