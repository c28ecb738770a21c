import type { FeedTable } from '@tidemark/core'
import type { AnyTRPCRootTypes, TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { ChangesInput, ChangesOutput, NotifyInput, NotifyOutput } from '../protocol.ts'

/**
 * The router that {@link createSyncRouter} makes. Written out rather than inferred, so that its declaration is valid
 * for strict consumers and the app's own `meta` and error shape, which `R` carries, arrive in the client.
 *
 * `R`: the root types of the app's `t`. `DB`: the app's Kysely database. `TT`: the declarations of its feed.
 */
export type SyncRouter<R extends AnyTRPCRootTypes, DB, TT> = TRPCBuiltRouter<R, SyncProcedures<R, FeedTable<DB, TT>>>

/** The procedures of a {@link SyncRouter} over the tables `T`. */
export type SyncProcedures<R extends AnyTRPCRootTypes, T extends string> = {
  /** A page of the feed after a cursor. */
  changes: TRPCQueryProcedure<{
    input: ChangesInput<T>
    output: ChangesOutput<T>
    meta: R['meta']
    errorShape: R['errorShape']
  }>
  /**
   * Announces writes that no trigger saw. Needs the permission `tidemark:notify`, for global tables
   * `tidemark:notify-global` too.
   */
  notify: TRPCMutationProcedure<{
    input: NotifyInput<T>
    output: NotifyOutput<T>
    meta: R['meta']
    errorShape: R['errorShape']
  }>
}
