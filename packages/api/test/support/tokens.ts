import { SignJWT } from 'jose'
import type { CryptoKey, JWTPayload, KeyObject } from 'jose'
import { jwtAuth } from '../../src/index.ts'
import type { Authenticate, JwtAuthOptions } from '../../src/index.ts'

const NOW: Date = new Date('2024-03-10T12:00:00Z')
export const nowSeconds: number = NOW.getTime() / 1000
const ISSUER = 'https://sign-in.example/'
const AUDIENCE = 'freight-api'
export const SECRET: Uint8Array = new TextEncoder().encode('a secret of at least thirty-two bytes')

export const rules: JwtAuthOptions = {
  key: SECRET,
  algorithms: ['HS256'],
  issuer: ISSUER,
  audience: AUDIENCE,
  tenantClaim: 'org_id',
  permissionsClaim: 'permissions',
  clockToleranceSeconds: 0,
  now: () => NOW,
}

/** The claims of a good token of one tenant; override or (with `undefined`) drop some. */
export function claims(overrides: Record<string, unknown> = {}): JWTPayload {
  const all = { iss: ISSUER, aud: AUDIENCE, exp: nowSeconds + 60, org_id: 'acme', ...overrides }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** A token with exactly these claims. */
export function sign(
  payload: JWTPayload,
  key: CryptoKey | KeyObject | Uint8Array = SECRET,
  header: { alg: string; kid?: string } = { alg: 'HS256' },
): Promise<string> {
  return new SignJWT(payload).setProtectedHeader(header).sign(key)
}

/** The `Authorization` header of a tenant's good token. */
export async function bearer(tenant: string, permissions: readonly string[] = []): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await sign(claims({ org_id: tenant, permissions }))}` }
}

/** The sign-in of the test servers. */
export function testAuth(overrides: Partial<JwtAuthOptions> = {}): Authenticate {
  return jwtAuth({ ...rules, ...overrides })
}
