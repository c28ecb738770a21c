import { InvalidInputError, tenant as checkedTenant } from '@tidemark/core'

declare const syncAuthBrand: unique symbol

/**
 * Who calls: verified, or not and why. Made only by `jwtAuth`, {@link verifiedAuth} and {@link unverifiedAuth}; a
 * look-alike object is refused by every procedure. Holds no token.
 */
export type SyncAuth = VerifiedAuth | UnverifiedAuth

/** A caller whose credentials were checked. */
export interface VerifiedAuth {
  readonly verified: true
  /** The caller's tenant, from the credentials and nowhere else; `null` when they name none. */
  readonly tenant: string | null
  /** The verified claims, for the app's own procedures. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Names of what the caller may do, such as `tidemark:notify`. */
  readonly permissions: readonly string[]
  readonly [syncAuthBrand]: true
}

/** A caller whose credentials are absent, refused, or could not be checked just now. */
export interface UnverifiedAuth {
  readonly verified: false
  /** For logs and metrics; the caller is only told 401, or 503 for `unavailable`. */
  readonly reason: AuthFailure
  readonly [syncAuthBrand]: true
}

/**
 * Why a caller is not verified.
 *
 * `missing` no credentials · `malformed` not one well-formed bearer token · `algorithm` signed in a way that is not on
 * the list · `key` signed with a key nobody knows · `signature` does not match · `expired` · `notYetValid` · `claims`
 * issuer, audience or a required claim is wrong or missing · `tenantClaim` the tenant claim is neither text nor a safe
 * integer · `unavailable` the keys cannot be had at the moment, so nothing is known about the token (503, not 401:
 * clients must not sign their users out).
 */
export type AuthFailure =
  | 'missing'
  | 'malformed'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'expired'
  | 'notYetValid'
  | 'claims'
  | 'tenantClaim'
  | 'unavailable'

/** Argument of {@link verifiedAuth}. */
export interface VerifiedIdentity {
  /**
   * The caller's tenant; `null` for a feed with `tenancy: 'none'`. Numbers must be safe integers; at most 1,024
   * characters.
   */
  readonly tenant: string | number | bigint | null
  /** Default: none. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** Default: none. */
  readonly permissions?: readonly string[]
}

// Membership, not a field, is the proof: no body or header can become a member, and `{ ...auth, tenant }` loses it.
const made = new WeakMap<object, { readonly cause: unknown }>()

/**
 * Says that the app has checked this caller itself (a session cookie, an API key, mutual TLS). Call it only with what
 * that check yielded, never with anything the request merely claims.
 *
 * @throws {InvalidInputError} when `tenant` is empty, too long, not a safe integer, or holds NUL.
 * @example
 * ```ts
 * auth: async (req) => {
 *   const session = await sessions.find(req)
 *   return session ? verifiedAuth({ tenant: session.orgId }) : unverifiedAuth('missing')
 * }
 * ```
 */
export function verifiedAuth(identity: VerifiedIdentity): VerifiedAuth {
  if (typeof identity !== 'object' || identity === null) {
    throw new TypeError('verifiedAuth: pass { tenant, claims?, permissions? }')
  }
  if (identity.tenant === undefined) {
    throw new InvalidInputError('tenant', "name the caller's tenant, or null for a feed with tenancy 'none'")
  }
  const permissions = identity.permissions ?? []
  if (!Array.isArray(permissions) || !permissions.every((name) => typeof name === 'string')) {
    throw new InvalidInputError('permissions', 'must be an array of strings')
  }
  const auth = Object.freeze({
    verified: true as const,
    tenant: identity.tenant === null ? null : checkedTenant(identity.tenant).tenant,
    claims: Object.freeze({ ...identity.claims }),
    permissions: Object.freeze([...permissions]),
  }) as VerifiedAuth
  made.set(auth, { cause: undefined })
  return auth
}

/**
 * Says that a caller is not verified. Procedures answer 401, or 503 when `reason` is `unavailable`.
 *
 * @param cause what went wrong, handed to `onError` of the router and never sent.
 */
export function unverifiedAuth(reason: AuthFailure, cause?: unknown): UnverifiedAuth {
  const auth = Object.freeze({ verified: false as const, reason }) as UnverifiedAuth
  made.set(auth, { cause })
  return auth
}

/** Whether this module made `value`. */
export function isSyncAuth(value: unknown): value is SyncAuth {
  return typeof value === 'object' && value !== null && made.has(value)
}

/** What `unverifiedAuth` was told about the cause. */
export function authCause(auth: SyncAuth): unknown {
  return made.get(auth)?.cause
}
