import type { TRPCError } from '@trpc/server'
import type { SyncContext } from '../context.ts'
import type { SyncErrorData } from '../protocol.ts'

/** What an operator is told of a failed call. */
export interface SyncErrorEvent<Ctx = SyncContext> {
  /** What really happened: the error of the database, the feed or the token check. Not for callers. */
  readonly error: unknown
  /** What the caller was told. */
  readonly sent: TRPCError & { readonly tidemark: SyncErrorData }
  /** The procedure, such as `sync.changes`. */
  readonly path: string
  /** The call's context. */
  readonly ctx: Ctx
}

/** Hears of every failed call. What it throws is turned into a process warning; the caller's answer stays the same. */
export type SyncErrorHandler<Ctx = SyncContext> = (event: SyncErrorEvent<Ctx>) => void | Promise<void>

/**
 * The handler when none is given: what only an operator can mend goes to `console.error`, refusals of a caller's input
 * go nowhere.
 */
export const logInternalErrors: SyncErrorHandler<unknown> = ({ error, sent, path }) => {
  if (sent.tidemark.retryable) console.error(`tidemark: ${path} failed (${sent.tidemark.code})`, error)
}

/**
 * Calls a hook of the app so that its failure, thrown or rejected, neither changes an answer nor ends the process.
 *
 * @param name the option the hook was given as, for the warning.
 */
export function callHook(name: string, hook: () => void | Promise<void>): void {
  try {
    // A hook declared as returning void may still be an async function.
    void Promise.resolve(hook()).catch((error: unknown) => warn(name, error))
  } catch (error) {
    warn(name, error)
  }
}

function warn(name: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.emitWarning(`tidemark: the ${name} hook failed: ${text}`, { code: 'TIDEMARK_HOOK_FAILED' })
}
