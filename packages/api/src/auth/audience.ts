import { globalOnly, InvalidTenantError, tenant } from '@tidemark/core'
import type { GlobalAudience, Tenancy, TenantAudience } from '@tidemark/core'
import { SyncError } from '../errors/sync-error.ts'
import { authCause, isSyncAuth } from './sync-auth.ts'
import type { SyncAuth, VerifiedAuth } from './sync-auth.ts'

/** The caller, once verified; everything else is an error, never a lesser audience. */
export function requireVerified(auth: SyncAuth | undefined): VerifiedAuth {
  if (!isSyncAuth(auth)) {
    throw new SyncError('unauthorized', {
      cause: new TypeError('ctx.auth was not made by jwtAuth, verifiedAuth or unverifiedAuth of @tidemark/api'),
    })
  }
  if (auth.verified) return auth
  const cause = new Error(`not verified: ${auth.reason}`, { cause: authCause(auth) })
  throw new SyncError(auth.reason === 'unavailable' ? 'authUnavailable' : 'unauthorized', { cause })
}

/**
 * Whose changes a verified caller may see. A feed with tenants serves no caller without one: an empty feed would look like a
 * working one.
 */
export function audienceOf(auth: VerifiedAuth, tenancy: Tenancy): TenantAudience | GlobalAudience {
  if (tenancy === 'none') return globalOnly
  if (auth.tenant === null) {
    throw new SyncError('unauthorized', { cause: new InvalidTenantError('"tenant": the verified caller has none') })
  }
  return tenant(auth.tenant)
}
