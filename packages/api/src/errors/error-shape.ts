import type { TRPCError, TRPCErrorShape } from '@trpc/server'
import type { SyncErrorData } from '../protocol.ts'
import { SyncError } from './sync-error.ts'

/** An error shape with our data in it; `tidemark` is `null` for errors that are not ours. */
export type WithTidemarkError<S extends TRPCErrorShape> = Omit<S, 'data'> & {
  readonly data: S['data'] & { readonly tidemark: SyncErrorData | null }
}

/**
 * Adds code, `retryable` and field of our errors to what the app's error formatter sends, as `data.tidemark`. Optional:
 * without it a client still tells as much as tRPC's own code says.
 *
 * @example
 * ```ts
 * initTRPC.context<Context>().create({
 *   errorFormatter: ({ error, shape }) => tidemarkErrorShape({ error, shape: { ...shape, data: { ...shape.data, requestId } } }),
 * })
 * ```
 */
export function tidemarkErrorShape<S extends TRPCErrorShape>(options: {
  readonly error: TRPCError
  readonly shape: S
}): WithTidemarkError<S> {
  const { error, shape } = options
  return { ...shape, data: { ...shape.data, tidemark: error instanceof SyncError ? error.tidemark : null } }
}
