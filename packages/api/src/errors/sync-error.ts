import { TRPCError } from '@trpc/server'
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server'
import type { SyncErrorCode, SyncErrorData } from '../protocol.ts'
import { isRetryable, safeMessages, trpcCodes } from './error-map.ts'

/** What may be said besides the code. */
export interface SyncErrorDetails {
  /** Replaces the code's fixed message. Only text made of the caller's own input and public names. */
  readonly message?: string
  readonly field?: string
  /** What really happened; for `onError`, never sent. */
  readonly cause?: unknown
}

// Beside the error, not on it: an error formatter that sends everything it finds must not find the cause.
const causes = new WeakMap<SyncError, unknown>()

/**
 * The only kind of error that leaves our procedures. Carries a closed code, a safe message and the input's field;
 * neither stack nor cause, so that no setting of the app (`isDev`, `NODE_ENV`, an error formatter) can send them.
 */
export class SyncError extends TRPCError {
  /** What `tidemarkErrorShape` sends. */
  readonly tidemark: SyncErrorData

  constructor(code: SyncErrorCode, { message, field, cause }: SyncErrorDetails = {}) {
    const trpcCode: TRPC_ERROR_CODE_KEY = trpcCodes[code]
    super({ code: trpcCode, message: message ?? safeMessages[code] })
    this.tidemark = Object.freeze({ code, retryable: isRetryable(trpcCode), ...(field === undefined ? {} : { field }) })
    // tRPC copies `stack` into the answer when `isDev` is set.
    Object.defineProperty(this, 'stack', { value: undefined, enumerable: false })
    if (cause !== undefined) causes.set(this, cause)
  }
}

/**
 * What really happened when one of our procedures failed: the error of the database, of the token check, of the feed.
 * For the app's own logging in tRPC's `onError`; for other errors it is the error itself.
 *
 * @example
 * ```ts
 * createExpressMiddleware({ router, createContext, onError: ({ error }) => log.warn(originalError(error)) })
 * ```
 */
export function originalError(error: unknown): unknown {
  return error instanceof SyncError && causes.has(error) ? causes.get(error) : error
}
