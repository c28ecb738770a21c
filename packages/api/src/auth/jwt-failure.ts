import { decodeJwt } from 'jose'
import type { errors } from 'jose'
import type { CheckedJwtOptions } from './jwt-options.ts'
import type { AuthFailure } from './sync-auth.ts'

/** The key function failed for a reason that says nothing about the token. */
export class KeyUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the key that verifies tokens could not be had', { cause })
    this.name = 'KeyUnavailableError'
  }
}

/**
 * The `code` of an error of jose. Compared rather than the class, since the app's key function may use another copy of
 * jose.
 */
export function joseCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Tells what the caller sent wrong from what is wrong on our side. */
export function failureOf(error: unknown, token: string, options: CheckedJwtOptions): AuthFailure {
  if (error instanceof KeyUnavailableError) return expired(token, options) ? 'expired' : 'unavailable'
  switch (joseCode(error)) {
    case 'ERR_JWT_EXPIRED':
      return 'expired'
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return (error as errors.JWTClaimValidationFailed).claim === 'nbf' ? 'notYetValid' : 'claims'
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'signature'
    case 'ERR_JWKS_NO_MATCHING_KEY':
      return 'key'
    case 'ERR_JWS_INVALID':
    case 'ERR_JWT_INVALID':
      return 'malformed'
    default:
      // Decided by the token's own header: an algorithm that is not listed, or one that does not fit the key.
      return 'algorithm'
  }
}

// While no key can be had nothing in a token can be believed, except that an expired one will not do whatever the key
// says.
function expired(token: string, { clockTolerance, now }: CheckedJwtOptions): boolean {
  try {
    const { exp } = decodeJwt(token)
    return typeof exp !== 'number' || exp <= Math.floor(now().getTime() / 1000) - clockTolerance
  } catch {
    return true
  }
}
