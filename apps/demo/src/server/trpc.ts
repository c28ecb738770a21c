import { tidemarkErrorShape, type SyncContext } from '@tidemark/api'
import { initTRPC, TRPCError } from '@trpc/server'
import superjson from 'superjson'
import { z } from 'zod'

/** The app's own `t`: superjson as its transformer, an error formatter that tells people what to mend. */
export const t = initTRPC.context<SyncContext>().create({
  transformer: superjson,
  errorFormatter: ({ error, shape }) => tidemarkErrorShape({ error, shape: { ...shape, message: messageFor(error) } }),
})

/** A procedure for signed-in callers: `ctx.company` is whose rows it may touch, from the verified token and nowhere else. */
export const companyProcedure = t.procedure.use(({ ctx, next }) => {
  const { auth } = ctx
  if (!auth.verified || auth.tenant === null) {
    throw new TRPCError({ code: 'UNAUTHORIZED', message: 'not signed in, or the sign-in has ended' })
  }
  return next({ ctx: { company: auth.tenant } })
})

function messageFor(error: TRPCError): string {
  if (error.cause instanceof z.ZodError) {
    const [issue] = error.cause.issues
    return issue === undefined ? 'the input is not valid' : `"${issue.path.join('.')}": ${issue.message}`
  }
  // What was thrown by a driver or by a fault of ours is for the log, not for the caller.
  const ours = error.code !== 'INTERNAL_SERVER_ERROR' || 'tidemark' in error
  return ours ? error.message : 'something went wrong on the server'
}
