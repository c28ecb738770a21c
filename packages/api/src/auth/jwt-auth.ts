import { errors, jwtVerify } from 'jose'
import type { CompactJWSHeaderParameters, FlattenedJWSInput, JWTPayload, JWTVerifyGetKey } from 'jose'
import { bearerToken } from './bearer.ts'
import type { RequestHeaders } from './bearer.ts'
import { checkJwtOptions } from './jwt-options.ts'
import type { CheckedJwtOptions, JwtAuthOptions } from './jwt-options.ts'
import { failureOf, joseCode, KeyUnavailableError } from './jwt-failure.ts'
import { unverifiedAuth, verifiedAuth } from './sync-auth.ts'
import type { SyncAuth } from './sync-auth.ts'

/** Finds out who sent a request. Never rejects for what a caller sent. */
export type Authenticate = (request: RequestHeaders) => Promise<SyncAuth>

/**
 * Verifies the bearer token of each request with a fixed list of algorithms, issuer, audience and a required `exp`, and
 * takes the tenant from its claims. The token comes from the `Authorization` header only, never from a URL or a body.
 *
 * Costs one signature check per request; a key function that fetches keys should cache them (jose's
 * `createRemoteJWKSet` does).
 *
 * @throws {TypeError} when an option is missing, contradictory or unsafe, so that the process does not start with it.
 * @example
 * ```ts
 * const auth = jwtAuth({
 *   key: createRemoteJWKSet(new URL('https://sign-in.example/.well-known/jwks.json')),
 *   algorithms: ['RS256'],
 *   issuer: 'https://sign-in.example/',
 *   audience: 'my-api',
 *   tenantClaim: 'org_id',
 * })
 * ```
 */
export function jwtAuth(options: JwtAuthOptions): Authenticate {
  const checked = checkJwtOptions(options)
  return async (request) => {
    const bearer = bearerToken(request)
    if ('failure' in bearer) return unverifiedAuth(bearer.failure)
    try {
      return identify(await verify(bearer.token, checked), checked)
    } catch (error) {
      return unverifiedAuth(failureOf(error, bearer.token, checked), error)
    }
  }
}

async function verify(token: string, options: CheckedJwtOptions): Promise<JWTPayload> {
  const { key, algorithms, issuer, audience, clockTolerance, now } = options
  const rules = { algorithms, issuer, audience, clockTolerance, requiredClaims: ['exp'], currentDate: now() }
  try {
    const { payload } = await (typeof key === 'function'
      ? jwtVerify(token, fromKeyFunction(key), rules)
      : jwtVerify(token, key, rules))
    return payload
  } catch (error) {
    if (joseCode(error) !== 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') throw error
    // Without a key id in the token any key of the set may have signed it.
    for await (const candidate of error as errors.JWKSMultipleMatchingKeys) {
      try {
        return (await jwtVerify(token, candidate, rules)).payload
      } catch (inner) {
        if (joseCode(inner) !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') throw inner
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

const aboutToken: ReadonlySet<string | undefined> = new Set([
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
])

// An error of the key function and an error of the check look alike from outside, and only one of them is the caller's.
function fromKeyFunction(key: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header: CompactJWSHeaderParameters, token: FlattenedJWSInput) => {
    try {
      return await key(header, token)
    } catch (error) {
      throw aboutToken.has(joseCode(error)) ? error : new KeyUnavailableError(error)
    }
  }
}

function identify(claims: JWTPayload, { tenantClaim, permissionsClaim }: CheckedJwtOptions): SyncAuth {
  const tenant = tenantClaim === undefined ? undefined : ownClaim(claims, tenantClaim)
  if (tenant !== undefined && tenant !== null && typeof tenant !== 'string' && typeof tenant !== 'number') {
    return unverifiedAuth('tenantClaim')
  }
  const permissions = permissionsClaim === undefined ? [] : permissionList(ownClaim(claims, permissionsClaim))
  try {
    return verifiedAuth({ tenant: tenant ?? null, claims, permissions })
  } catch (error) {
    return unverifiedAuth('tenantClaim', error)
  }
}

// A claim named like a member of every object ("constructor") must not find that member.
function ownClaim(claims: JWTPayload, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

function permissionList(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter((name) => name !== '')
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : []
}
