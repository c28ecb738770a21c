import type { SyncAuth } from './auth/sync-auth.ts'

/**
 * What the app's tRPC context must hold for {@link createSyncRouter}. `createSyncExpress` fills it in; a host of its
 * own does so in `createContext`.
 *
 * @example
 * ```ts
 * interface Context extends SyncContext { requestId: string }
 * const t = initTRPC.context<Context>().create({ transformer: superjson })
 * ```
 */
export interface SyncContext {
  readonly auth: SyncAuth
}
