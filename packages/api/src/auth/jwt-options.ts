import type { CryptoKey, JWK, JWTVerifyGetKey, KeyObject } from 'jose'

/** Options of `jwtAuth`. */
export interface JwtAuthOptions {
  /**
   * What verifies the signature: a jose key, a JWK, the bytes of a shared secret, or a function that finds the key for
   * a token's header, such as the result of jose's `createRemoteJWKSet`. A function says that it knows no such key by
   * throwing jose's `JWKSNoMatchingKey` (401); whatever else it throws means that keys cannot be had at the moment
   * (503).
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

/** Signature algorithms of JWTs. */
export type JwtAlgorithm =
  | 'HS256'
  | 'HS384'
  | 'HS512'
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'

const known: Readonly<Record<JwtAlgorithm, 'secret' | 'public'>> = {
  HS256: 'secret',
  HS384: 'secret',
  HS512: 'secret',
  RS256: 'public',
  RS384: 'public',
  RS512: 'public',
  PS256: 'public',
  PS384: 'public',
  PS512: 'public',
  ES256: 'public',
  ES384: 'public',
  ES512: 'public',
  EdDSA: 'public',
  Ed25519: 'public',
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
    throw wrong('options', 'pass { key, algorithms, issuer, audience, … }')
  const { key, algorithms, tenantClaim, permissionsClaim, clockToleranceSeconds = 5, now = () => new Date() } = options
  const kind = checkAlgorithms(algorithms)
  checkKey(key, kind, algorithms)
  if (
    typeof clockToleranceSeconds !== 'number' ||
    !Number.isInteger(clockToleranceSeconds) ||
    clockToleranceSeconds < 0 ||
    clockToleranceSeconds > 300
  ) {
    throw wrong('clockToleranceSeconds', 'must be a whole number from 0 to 300')
  }
  if (typeof now !== 'function') throw wrong('now', 'must be a function that returns a Date')
  return {
    key,
    algorithms: [...algorithms],
    issuer: names('issuer', options.issuer),
    audience: names('audience', options.audience),
    tenantClaim: claimName('tenantClaim', tenantClaim),
    permissionsClaim: claimName('permissionsClaim', permissionsClaim),
    clockTolerance: clockToleranceSeconds,
    now,
  }
}

function checkAlgorithms(algorithms: unknown): 'secret' | 'public' {
  if (!Array.isArray(algorithms) || algorithms.length === 0)
    throw wrong('algorithms', "list those in use, such as ['RS256']")
  const kinds = new Set<string>()
  for (const algorithm of algorithms) {
    const kind = Object.hasOwn(known, algorithm) ? known[algorithm as JwtAlgorithm] : undefined
    if (kind === undefined)
      throw wrong('algorithms', `"${String(algorithm)}" is not a signature algorithm that can be trusted`)
    kinds.add(kind)
  }
  if (kinds.size > 1)
    throw wrong('algorithms', 'shared-secret (HS…) and public-key algorithms must not be accepted together')
  return kinds.has('secret') ? 'secret' : 'public'
}

function checkKey(key: unknown, kind: 'secret' | 'public', algorithms: readonly string[]): void {
  if (typeof key === 'function') return
  if (typeof key !== 'object' || key === null) {
    throw wrong(
      'key',
      "must be a jose key, a JWK, a Uint8Array, or a function; import PEM text with jose's importSPKI, encode a secret with TextEncoder",
    )
  }
  if (key instanceof Uint8Array) {
    if (kind === 'public')
      throw wrong('key', `a shared secret cannot verify ${algorithms.join(', ')}; pass the public key`)
    const bytes = Math.max(...algorithms.map((algorithm) => Number(algorithm.slice(2)) / 8))
    // RFC 7518, section 3.2.
    if (key.byteLength < bytes)
      throw wrong('key', `a secret for ${algorithms.join(', ')} must have at least ${bytes} bytes`)
    return
  }
  const type = keyType(key as Record<string, unknown>)
  if (type === 'private') throw wrong('key', 'is a private key; pass the public one')
  if (type !== undefined && type !== kind) throw wrong('key', `a ${type} key cannot verify ${algorithms.join(', ')}`)
}

function keyType(key: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof key['kty'] !== 'string') return typeof key['type'] === 'string' ? key['type'] : undefined
  if (key['kty'] === 'oct') return 'secret'
  return key['d'] === undefined ? 'public' : 'private'
}

function names(option: string, value: unknown): string[] {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.length === 0 || !list.every((name) => typeof name === 'string' && name !== '')) {
    throw wrong(option, 'must be a non-empty string, or an array of them')
  }
  return [...list]
}

function claimName(option: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw wrong(option, 'must be the name of a claim')
}

function wrong(option: string, message: string): TypeError {
  return new TypeError(`jwtAuth: "${option}" ${message}`)
}
