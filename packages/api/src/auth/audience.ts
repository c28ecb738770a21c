import { globalOnly, InvalidTenantError, tenant } from '@tidemark/core'
import type { GlobalAudience, Tenancy, TenantAudience } from '@tidemark/core'
import { SyncError } from '../errors/sync-error.ts'
import { authCause, isSyncAuth } from './sync-auth.ts'
import type { SyncAuth } from './sync-auth.ts'

/**
 * Whose changes a caller may see. A caller who is not verified, or has no tenant where there are tenants, gets an error
 * and never a lesser audience: an empty feed would look like a working one.
 */
export function audienceOf(auth: SyncAuth | undefined, tenancy: Tenancy): TenantAudience | GlobalAudience {
  if (!isSyncAuth(auth)) {
    throw new SyncError('unauthorized', {
      cause: new TypeError('ctx.auth was not made by jwtAuth, verifiedAuth or unverifiedAuth of @tidemark/api'),
    })
  }
  if (!auth.verified) {
    const cause = new Error(`not verified: ${auth.reason}`, { cause: authCause(auth) })
    throw new SyncError(auth.reason === 'unavailable' ? 'authUnavailable' : 'unauthorized', { cause })
  }
  if (tenancy === 'none') return globalOnly
  if (auth.tenant === null) {
    throw new SyncError('unauthorized', { cause: new InvalidTenantError('"tenant": the verified caller has none') })
  }
  return tenant(auth.tenant)
}
