export { jwtAuth } from './auth/jwt-auth.ts'
export type { Authenticate } from './auth/jwt-auth.ts'
export type { JwtAlgorithm } from './auth/jwt-key.ts'
export type { JwtAuthOptions } from './auth/jwt-options.ts'
export type { RequestHeaders } from './auth/bearer.ts'
export { unverifiedAuth, verifiedAuth } from './auth/sync-auth.ts'
export type { AuthFailure, SyncAuth, UnverifiedAuth, VerifiedAuth, VerifiedIdentity } from './auth/sync-auth.ts'
export type { SyncContext } from './context.ts'

export { createSyncRouter } from './router/create-sync-router.ts'
export type { SyncPermission, SyncRouterOptions } from './router/options.ts'
export type { SyncProcedures, SyncRouter } from './router/sync-router.ts'

export { tidemarkErrorShape } from './errors/error-shape.ts'
export type { WithTidemarkError } from './errors/error-shape.ts'
export type { SyncErrorEvent, SyncErrorHandler } from './errors/report.ts'
export { originalError } from './errors/sync-error.ts'
export { syncLimits } from './limits.ts'
export type {
  ChangesHeldOutput,
  ChangesInput,
  ChangesOutput,
  ChangesPageOutput,
  ChangesResyncOutput,
  NotifyEntryInput,
  NotifyInput,
  NotifyOutput,
  SyncErrorCode,
  SyncErrorData,
  SyncLimits,
  WireChange,
  WireOperation,
  WireResyncReason,
  WireScopeValue,
} from './protocol.ts'
