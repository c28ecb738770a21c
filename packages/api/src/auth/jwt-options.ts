import type { CryptoKey, JWK, JWTVerifyGetKey, KeyObject } from 'jose'
import { checkAlgorithms, checkKey } from './jwt-key.ts'
import type { JwtAlgorithm } from './jwt-key.ts'
import { wrongOption } from './wrong-option.ts'

/** Options of `jwtAuth`. */
export interface JwtAuthOptions {
  /**
   * What verifies the signature: a jose key, a JWK, the bytes of a shared secret, or a function that finds the key for
   * a token's header, such as the result of jose's `createRemoteJWKSet`. A function says that it knows no such key by
   * throwing jose's `JWKSNoMatchingKey` (401); whatever else it throws means that keys cannot be had at the moment
   * (503).
   *
   * A key that is passed as such must fit each of `algorithms`: their type and curve, secrets as long as the hash at
   * least, RSA from 2,048 bits. For several types of keys pass a function.
   */
  readonly key: CryptoKey | KeyObject | JWK | Uint8Array | JWTVerifyGetKey
  /**
   * The signature algorithms that are accepted, at least one. `none` never is, and shared-secret (`HS…`) and public-key
   * algorithms do not go together: a public key must never serve as a secret.
   */
  readonly algorithms: readonly JwtAlgorithm[]
  /** The accepted `iss` claim, or several. Tokens without one are refused. */
  readonly issuer: string | readonly string[]
  /** This API's name in the `aud` claim, or several of which one must be there. Tokens without one are refused. */
  readonly audience: string | readonly string[]
  /**
   * Claim that holds the caller's tenant: text or a safe integer. A token without it is verified but has no tenant, so
   * a feed with tenants refuses it. Leave it out only for feeds with `tenancy: 'none'`.
   */
  readonly tenantClaim?: string | undefined
  /**
   * Claim that lists what the caller may do: an array of strings, or one string with spaces between (like `scope`).
   * Default: nothing is permitted.
   */
  readonly permissionsClaim?: string | undefined
  /** How far the clocks of issuer and server may differ, 0 to 300 seconds. Default 5. */
  readonly clockToleranceSeconds?: number | undefined
  /** The time to compare `exp` and `nbf` with. Default: the server's clock. For tests. */
  readonly now?: (() => Date) | undefined
}

/** The same options, checked and with their defaults. */
export interface CheckedJwtOptions {
  readonly key: JwtAuthOptions['key']
  readonly algorithms: string[]
  readonly issuer: string[]
  readonly audience: string[]
  readonly tenantClaim: string | undefined
  readonly permissionsClaim: string | undefined
  readonly clockTolerance: number
  readonly now: () => Date
}

/** Refuses at start-up what would be a hole, or a 401 for everyone, at run time. */
export function checkJwtOptions(options: JwtAuthOptions): CheckedJwtOptions {
  if (typeof options !== 'object' || options === null)
    throw wrongOption('options', 'pass { key, algorithms, issuer, audience, … }')
  const { key, algorithms, tenantClaim, permissionsClaim, clockToleranceSeconds = 5, now = () => new Date() } = options
  const known = checkAlgorithms(algorithms)
  checkKey(key, known)
  if (
    typeof clockToleranceSeconds !== 'number' ||
    !Number.isInteger(clockToleranceSeconds) ||
    clockToleranceSeconds < 0 ||
    clockToleranceSeconds > 300
  ) {
    throw wrongOption('clockToleranceSeconds', 'must be a whole number from 0 to 300')
  }
  if (typeof now !== 'function') throw wrongOption('now', 'must be a function that returns a Date')
  return {
    key,
    algorithms: known,
    issuer: names('issuer', options.issuer),
    audience: names('audience', options.audience),
    tenantClaim: claimName('tenantClaim', tenantClaim),
    permissionsClaim: claimName('permissionsClaim', permissionsClaim),
    clockTolerance: clockToleranceSeconds,
    now,
  }
}

function names(option: string, value: unknown): string[] {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.length === 0 || !list.every((name) => typeof name === 'string' && name !== '')) {
    throw wrongOption(option, 'must be a non-empty string, or an array of them')
  }
  return [...list]
}

function claimName(option: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw wrongOption(option, 'must be the name of a claim')
}
