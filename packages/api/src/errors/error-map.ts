import type { TidemarkErrorCode } from '@tidemark/core'
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server'
import type { SyncErrorCode } from '../protocol.ts'

/**
 * What each error of core becomes on the wire. Total: a new code of core does not compile until it is placed here.
 *
 * A code whose cause a caller cannot have given (a wrong call of ours, a declaration that does not fit the database) is
 * `internal`.
 */
export const wireCodes: Readonly<Record<TidemarkErrorCode, SyncErrorCode>> = {
  invalidInput: 'invalidInput',
  invalidCursor: 'invalidCursor',
  invalidTenant: 'invalidTenant',
  unknownTable: 'unknownTable',
  unsupportedTable: 'internal',
  unsupportedColumn: 'internal',
  declarationConflict: 'internal',
  insufficientRights: 'internal',
  writingTransaction: 'internal',
  isolationLevel: 'internal',
  notMigrated: 'notMigrated',
  schemaTooNew: 'schemaTooNew',
  standby: 'standby',
  lockTimeout: 'lockTimeout',
}

/** The tRPC code, and with it the HTTP status, of each of our codes. Total as well. */
export const trpcCodes: Readonly<Record<SyncErrorCode, TRPC_ERROR_CODE_KEY>> = {
  invalidInput: 'BAD_REQUEST',
  invalidCursor: 'BAD_REQUEST',
  unknownTable: 'BAD_REQUEST',
  scopedTable: 'BAD_REQUEST',
  payloadTooLarge: 'PAYLOAD_TOO_LARGE',
  unauthorized: 'UNAUTHORIZED',
  invalidTenant: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  authUnavailable: 'SERVICE_UNAVAILABLE',
  notMigrated: 'SERVICE_UNAVAILABLE',
  schemaTooNew: 'SERVICE_UNAVAILABLE',
  standby: 'SERVICE_UNAVAILABLE',
  lockTimeout: 'SERVICE_UNAVAILABLE',
  internal: 'INTERNAL_SERVER_ERROR',
}

/** What is said when the error itself must not speak. */
export const safeMessages: Readonly<Record<SyncErrorCode, string>> = {
  invalidInput: 'the input is not valid',
  invalidCursor: "\"since\": not a cursor of this feed; pass a cursor exactly as it was returned, or 'start' or 'now'",
  unknownTable: '"tables": names a table that this feed does not declare',
  scopedTable: '"tables": names a table with scopes, which cannot be followed here',
  payloadTooLarge: 'the request is too large; send less at once',
  unauthorized: 'not signed in, or the sign-in is no longer valid; send a valid bearer token',
  invalidTenant: "the token's tenant cannot be a tenant of this feed; sign in again",
  forbidden: 'the caller has no permission for this',
  authUnavailable: 'tokens cannot be checked at the moment; try again later',
  notMigrated: 'the change feed is not installed yet; try again later',
  schemaTooNew: 'this server is older than the database; try again later',
  standby: 'this server cannot read the change feed; try again later',
  lockTimeout: 'the database is busy; try again later',
  internal: 'internal error; try again later',
}

/**
 * Whether the same call may succeed later without the caller changing anything; a client without our error data can
 * tell as much.
 */
export function isRetryable(code: TRPC_ERROR_CODE_KEY): boolean {
  return retryable.has(code)
}

const retryable: ReadonlySet<TRPC_ERROR_CODE_KEY> = new Set<TRPC_ERROR_CODE_KEY>([
  'INTERNAL_SERVER_ERROR',
  'BAD_GATEWAY',
  'SERVICE_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
  'TIMEOUT',
  'TOO_MANY_REQUESTS',
])
