import { createFeed } from '@tidemark/core'
import type { Feed, Operation, ResyncReason, TidemarkErrorCode } from '@tidemark/core'
import { createTRPCClient, httpLink } from '@trpc/client'
import type { TRPCClientError } from '@trpc/client'
import { initTRPC } from '@trpc/server'
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { Kysely } from 'kysely'
import superjson from 'superjson'
import { createSyncExpress } from '../../src/express.ts'
import { createSyncRouter, jwtAuth, tidemarkErrorShape, verifiedAuth } from '../../src/index.ts'
import type {
  ChangesInput,
  ChangesOutput,
  NotifyInput,
  NotifyOutput,
  SyncAuth,
  SyncContext,
  SyncErrorCode,
  SyncErrorData,
  SyncRouter,
  WireOperation,
  WireResyncReason,
} from '../../src/index.ts'
import type { wireCodes } from '../../src/errors/error-map.ts'
import { freightTables } from '../support/freight.ts'
import type { FreightDb } from '../support/freight.ts'
import { check } from './equal.ts'
import type { Equal } from './equal.ts'

declare const db: Kysely<FreightDb>
const feed: Feed<FreightDb, typeof freightTables> = createFeed({ db, tables: freightTables })
type Table = 'shipments' | 'legs' | 'cities'

interface Context extends SyncContext {
  readonly requestId: string
}
interface Meta {
  readonly audit?: boolean
}

// An app with everything of its own: meta, error shape, transformer.
const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    transformer: superjson,
    defaultMeta: { audit: true },
    errorFormatter: ({ error, shape, ctx }) =>
      tidemarkErrorShape({ error, shape: { ...shape, data: { ...shape.data, requestId: ctx?.requestId ?? null } } }),
  })
const router = t.router({ health: t.procedure.query(() => 'ok' as const), sync: createSyncRouter(t, { feed }) })
type App = typeof router

// The plainest app there is.
const bare = initTRPC.context<SyncContext>().create()
const bareRouter = createSyncRouter(bare, { feed })

const client = createTRPCClient<App>({ links: [httpLink({ url: '', transformer: superjson })] })
const bareClient = createTRPCClient<typeof bareRouter>({ links: [httpLink({ url: '' })] })

// The types of the procedures, through both.
check<Equal<inferRouterInputs<App>['sync']['changes'], ChangesInput<Table>>>()
check<Equal<inferRouterInputs<App>['sync']['notify'], NotifyInput<Table>>>()
check<Equal<inferRouterOutputs<App>['sync']['changes'], ChangesOutput<Table>>>()
check<Equal<inferRouterOutputs<App>['sync']['notify'], NotifyOutput<Table>>>()
check<Equal<Awaited<ReturnType<typeof client.sync.changes.query>>, ChangesOutput<Table>>>()
void ((): Promise<ChangesOutput<Table>> => bareClient.changes.query({ since: 'now' }))
check<Equal<Awaited<ReturnType<typeof client.health.query>>, 'ok'>>()

// The answer narrows as documented, and its parts are not `any`.
void (async (): Promise<void> => {
  const answer = await client.sync.changes.query({ since: 'now', tables: ['shipments'], limit: 5 })
  if ('resync' in answer) {
    check<Equal<typeof answer.resync.reason, WireResyncReason>>()
  } else if ('held' in answer) {
    check<Equal<typeof answer.retryAfterMs, number>>()
  } else {
    check<Equal<(typeof answer.changes)[number]['table'], Table>>()
    check<Equal<(typeof answer.changes)[number]['key'], string | null>>()
    // @ts-expect-error neither position nor transaction nor tenant crosses the wire
    void answer.changes[0]!.tx
    // @ts-expect-error
    void answer.changes[0]!.tenant
  }
})

// The app's meta and error shape arrive in the client.
check<Equal<App['_def']['_config']['$types']['meta'], Meta>>()
check<Equal<inferRouterError<App>['data']['requestId'], string | null>>()
check<Equal<inferRouterError<App>['data']['tidemark'], SyncErrorData | null>>()
void ((error: TRPCClientError<App>): void => {
  check<Equal<NonNullable<typeof error.data>['requestId'], string | null>>()
  check<Equal<NonNullable<typeof error.data>['tidemark'], SyncErrorData | null>>()
})
check<Equal<App['sync']['changes']['meta'], Meta>>()
check<Equal<App['sync']['changes']['_def']['$types']['errorShape'], inferRouterError<App>>>()

// What must not compile in a client.
void [
  // @ts-expect-error since is required
  () => client.sync.changes.query({}),
  // @ts-expect-error since is required
  () => client.sync.changes.query(),
  // @ts-expect-error unknown table
  () => client.sync.changes.query({ since: 'now', tables: ['wages'] }),
  // @ts-expect-error a table of the database that is not declared
  () => client.sync.changes.query({ since: 'now', tables: ['dossiers'] }),
  // @ts-expect-error misspelt field
  () => client.sync.changes.query({ since: 'now', table: ['shipments'] }),
  // @ts-expect-error unknown table
  () => client.sync.notify.mutate({ entries: [{ table: 'wages' }] }),
  // @ts-expect-error key texts, not numbers
  () => client.sync.notify.mutate({ entries: [{ table: 'shipments', keys: [1] }] }),
  // @ts-expect-error the actor is not the caller's to say
  () => client.sync.notify.mutate({ entries: [{ table: 'shipments' }], actor: 'me' }),
  // @ts-expect-error a mutation
  () => client.sync.notify.query({ entries: [{ table: 'shipments' }] }),
  // @ts-expect-error unknown table, also without a transformer
  () => bareClient.changes.query({ since: 'now', tables: ['wages'] }),
]

// What must not compile on a server.
const without = initTRPC.context<{ requestId: string }>().create()
const wrongAuth = initTRPC.context<{ auth: { userId: string } }>().create()
const optionalAuth = initTRPC.context<{ auth?: SyncAuth }>().create()
const noContext = initTRPC.create()
void [
  // @ts-expect-error a context without auth
  () => createSyncRouter(without, { feed }),
  // @ts-expect-error a context whose auth is something else
  () => createSyncRouter(wrongAuth, { feed }),
  // @ts-expect-error a context that may lack auth
  () => createSyncRouter(optionalAuth, { feed }),
  // @ts-expect-error no context at all
  () => createSyncRouter(noContext, { feed }),
  // @ts-expect-error no feed
  () => createSyncRouter(t, {}),
  // @ts-expect-error auth cannot be made by hand
  (): SyncAuth => ({ verified: true, tenant: 'acme', claims: {}, permissions: [] }),
  // @ts-expect-error nor by halves
  (): SyncContext => ({ auth: { verified: false, reason: 'missing' } }),
  // @ts-expect-error `none` is no algorithm
  () => jwtAuth({ key: new Uint8Array(32), algorithms: ['none'], issuer: 'a', audience: 'b' }),
  // @ts-expect-error the audience is required
  () => jwtAuth({ key: new Uint8Array(32), algorithms: ['HS256'], issuer: 'a' }),
  // @ts-expect-error the tenant must be said, be it null
  () => verifiedAuth({}),
]

// The mount.
const auth = jwtAuth({ key: new Uint8Array(32), algorithms: ['HS256'], issuer: 'a', audience: 'b' })
void [
  () => createSyncExpress({ router: bareRouter, auth }),
  () =>
    createSyncExpress({
      router,
      auth,
      createContext: ({ auth, req, info }) => ({ requestId: `${auth.verified} ${req.path} ${info.calls.length}` }),
    }),
  () =>
    createSyncExpress({
      router,
      auth: async (req) => verifiedAuth({ tenant: String(req.ip) }),
      createContext: async () => ({ requestId: '' }),
    }),
  () =>
    createSyncExpress({
      router,
      auth,
      createContext: () => ({ requestId: '' }),
      onError: ({ error, req, path }) => void [error.code, req.ip, path],
    }),
  // @ts-expect-error the app's context has a field of its own
  () => createSyncExpress({ router, auth }),
  // @ts-expect-error which must be of its type
  () => createSyncExpress({ router, auth, createContext: () => ({ requestId: 5 }) }),
  // @ts-expect-error a router whose context has no auth
  () => createSyncExpress({ router: without.router({}), auth, createContext: () => ({ requestId: '' }) }),
  () =>
    createSyncExpress({
      router: bareRouter,
      // @ts-expect-error auth must yield what only our functions make
      auth: () => ({ verified: true, tenant: 'acme', claims: {}, permissions: [] }),
    }),
]

// The type can be written down, and is what is made.
const named: SyncRouter<(typeof t)['_config']['$types'], FreightDb, typeof freightTables> = createSyncRouter(t, {
  feed,
})
void named

// The wire repeats core's words without importing them; they must not drift apart.
check<Equal<WireOperation, Operation>>()
check<Equal<WireResyncReason, ResyncReason>>()
check<Equal<keyof typeof wireCodes, TidemarkErrorCode>>()
check<
  Equal<
    Extract<TidemarkErrorCode, SyncErrorCode>,
    | 'invalidInput'
    | 'invalidCursor'
    | 'unknownTable'
    | 'invalidTenant'
    | 'notMigrated'
    | 'schemaTooNew'
    | 'standby'
    | 'lockTimeout'
  >
>()
