import type { Feed } from '@tidemark/core'
import type { SyncContext } from '../context.ts'
import type { SyncErrorHandler } from '../errors/report.ts'

/** What a caller may be permitted to do beyond reading its own feed. */
export type SyncPermission = 'tidemark:notify' | 'tidemark:notify-global'

/** Options of {@link createSyncRouter}. */
export interface SyncRouterOptions<DB, TT, Ctx extends SyncContext = SyncContext> {
  /**
   * The feed that the procedures serve. `feed.migrate()` must have run before the first call; until then they answer
   * 503.
   */
  readonly feed: Feed<DB, TT>
  /**
   * Decides whether a caller has a permission; anything but `true` is no. Default: whether `ctx.auth.permissions` lists
   * it.
   */
  readonly permit?: (permission: SyncPermission, ctx: Ctx) => boolean | Promise<boolean>
  /**
   * Hears of every failed call with the original error, which callers never see. Default: errors that only an operator
   * can mend go to `console.error`.
   */
  readonly onError?: SyncErrorHandler<Ctx>
}
