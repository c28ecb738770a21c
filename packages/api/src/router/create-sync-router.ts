import type { TRPCRootObject, TRPCRuntimeConfigOptions } from '@trpc/server'
import { audienceOf } from '../auth/audience.ts'
import type { SyncContext } from '../context.ts'
import { callHook, logInternalErrors } from '../errors/report.ts'
import { originalError, SyncError } from '../errors/sync-error.ts'
import { toSyncError } from '../errors/to-sync-error.ts'
import { changes } from './changes.ts'
import { changesInput, notifyInput } from './input.ts'
import { notify } from './notify.ts'
import type { SyncPermission, SyncRouterOptions } from './options.ts'
import type { SyncRouter } from './sync-router.ts'

/**
 * Makes the router with the procedures `changes` and `notify` inside the app's own `t`, whatever its transformer, meta
 * and error formatter.
 *
 * The context must have `auth` (see {@link SyncContext}); a `t` without it does not compile. The tenant comes from
 * there alone. Both procedures throw only our own errors, with a safe message and neither stack nor cause, whatever
 * `isDev` and the error formatter say.
 *
 * @example
 * ```ts
 * const appRouter = t.router({ tasks: tasksRouter, sync: createSyncRouter(t, { feed }) })
 * ```
 */
export function createSyncRouter<
  Ctx extends SyncContext,
  Meta extends object,
  Options extends TRPCRuntimeConfigOptions<Ctx, Meta>,
  DB,
  TT,
>(
  t: TRPCRootObject<Ctx, Meta, Options>,
  options: SyncRouterOptions<DB, TT, Ctx>,
): SyncRouter<TRPCRootObject<Ctx, Meta, Options>['_config']['$types'], DB, TT> {
  const { feed, permit = listsPermission, onError = logInternalErrors } = options
  if (typeof feed?.tables?.get !== 'function')
    throw new TypeError('createSyncRouter: "feed" must be made by createFeed')

  const requirePermission = async (permission: SyncPermission, ctx: Ctx): Promise<void> => {
    if ((await permit(permission, ctx)) !== true) {
      throw new SyncError('forbidden', { message: `the caller has not the permission "${permission}"` })
    }
  }

  // Outermost, so that it also sees what reading, decoding and checking the input throws.
  const { procedure, router } = t as unknown as TRPCRootObject<Ctx, object, object>
  const guarded = procedure
    .use(async ({ ctx, path, next }) => {
      const result = await next()
      if (result.ok) return result
      const sent = toSyncError(result.error)
      callHook('onError', () => onError({ error: originalError(sent), sent, path, ctx: ctx as unknown as Ctx }))
      throw sent
    })
    .use(({ ctx, next }) => {
      // Before the input: a caller who is not signed in learns nothing about it.
      audienceOf(ctx.auth, feed.tenancy)
      return next()
    })

  const made = router({
    changes: guarded
      .input(changesInput)
      .query(({ ctx, input }) => changes(feed, audienceOf(ctx.auth, feed.tenancy), input)),
    notify: guarded
      .use(async ({ ctx, next }) => {
        await requirePermission('tidemark:notify', ctx as unknown as Ctx)
        return next()
      })
      .input(notifyInput)
      .mutation(({ ctx, input }) =>
        notify(feed, audienceOf(ctx.auth, feed.tenancy), input, (permission) =>
          requirePermission(permission, ctx as unknown as Ctx),
        ),
      ),
  })
  return made as unknown as SyncRouter<TRPCRootObject<Ctx, Meta, Options>['_config']['$types'], DB, TT>
}

function listsPermission(permission: SyncPermission, { auth }: SyncContext): boolean {
  return auth.verified && auth.permissions.includes(permission)
}
