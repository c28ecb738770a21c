import { createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto'
import { base64url, createLocalJWKSet, errors, exportJWK, exportSPKI, importSPKI } from 'jose'
import type { JWTVerifyGetKey } from 'jose'
import { describe, expect, test } from 'vitest'
import { jwtAuth } from '../../src/index.ts'
import type { JwtAuthOptions, SyncAuth } from '../../src/index.ts'
import { authCause } from '../../src/auth/sync-auth.ts'
import { claims, nowSeconds, rules, SECRET, sign } from '../support/tokens.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

async function authOf(token: string, options: Partial<JwtAuthOptions> = {}): Promise<SyncAuth> {
  return jwtAuth({ ...rules, ...options })({ headers: { authorization: `Bearer ${token}` } })
}

function unsigned(header: object, payload: object): string {
  return `${base64url.encode(JSON.stringify(header))}.${base64url.encode(JSON.stringify(payload))}.`
}

describe('a good token', () => {
  test('yields tenant, claims and permissions, and not the token', async () => {
    const token = await sign(claims({ sub: 'u1', permissions: ['tidemark:notify'] }))
    const auth = await authOf(token)
    expect(auth).toEqual({
      verified: true,
      tenant: 'acme',
      claims: claims({ sub: 'u1', permissions: ['tidemark:notify'] }),
      permissions: ['tidemark:notify'],
    })
    expect(JSON.stringify(auth)).not.toContain(token.split('.')[2])
    expect(Object.isFrozen(auth)).toBe(true)
  })

  test.each([
    [42, '42'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['0', '0'],
    [undefined, null],
    [null, null],
  ])('takes the tenant claim %j as %j', async (claim, tenant) => {
    expect(await authOf(await sign(claims({ org_id: claim })))).toMatchObject({ verified: true, tenant })
  })

  test.each([
    ['a b  c', ['a', 'b', 'c']],
    [
      ['a b', 'c'],
      ['a b', 'c'],
    ],
    [['a', 1], []],
    [{ a: true }, []],
    [undefined, []],
  ])('reads the permissions claim %j as %j', async (permissions, expected) => {
    expect(await authOf(await sign(claims({ permissions })))).toMatchObject({ verified: true, permissions: expected })
  })

  test('has no permissions unless a claim is named for them', async () => {
    const auth = await authOf(await sign(claims({ permissions: ['tidemark:notify'] })), { permissionsClaim: undefined })
    expect(auth).toMatchObject({ verified: true, permissions: [] })
  })

  test('a tenant claim named like a member of every object finds no such member', async () => {
    const auth = await authOf(await sign(claims()), { tenantClaim: 'constructor', permissionsClaim: 'toString' })
    expect(auth).toMatchObject({ verified: true, tenant: null, permissions: [] })
  })

  test('is still good within the clock tolerance and not beyond', async () => {
    const expired = await sign(claims({ exp: nowSeconds - 4 }))
    expect(await authOf(expired, { clockToleranceSeconds: 5 })).toMatchObject({ verified: true })
    expect(await authOf(expired, { clockToleranceSeconds: 4 })).toMatchObject({ verified: false, reason: 'expired' })
    expect(await authOf(expired, { clockToleranceSeconds: undefined })).toMatchObject({ verified: true })
  })

  test('may name one of several issuers and several audiences', async () => {
    const token = await sign(claims({ iss: 'b', aud: ['x', 'freight-api'] }))
    expect(await authOf(token, { issuer: ['a', 'b'] })).toMatchObject({ verified: true })
  })

  test('may be signed with a public-key algorithm', async () => {
    const token = await sign(claims(), rsa.privateKey, { alg: 'RS256' })
    for (const key of [
      rsa.publicKey,
      await importSPKI(rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string, 'RS256'),
      await exportJWK(rsa.publicKey),
    ]) {
      expect(await authOf(token, { key, algorithms: ['RS256'] })).toMatchObject({ verified: true, tenant: 'acme' })
    }
  })
})

describe('a refused claim', () => {
  test.each([
    ['exp missing', { exp: undefined }, 'claims'],
    ['exp not a number', { exp: 'tomorrow' }, 'claims'],
    ['exp in this very second', { exp: nowSeconds }, 'expired'],
    ['exp past', { exp: nowSeconds - 3600 }, 'expired'],
    ['nbf ahead', { nbf: nowSeconds + 1 }, 'notYetValid'],
    ['nbf not a number', { nbf: '0' }, 'notYetValid'],
    ['iss missing', { iss: undefined }, 'claims'],
    ['iss of another', { iss: 'https://evil.example/' }, 'claims'],
    ['iss an array', { iss: [rules.issuer] }, 'claims'],
    ['iss a prefix', { iss: 'https://sign-in.example' }, 'claims'],
    ['aud missing', { aud: undefined }, 'claims'],
    ['aud of another', { aud: 'billing-api' }, 'claims'],
    ['aud an empty array', { aud: [] }, 'claims'],
    ['tenant empty', { org_id: '' }, 'tenantClaim'],
    ['tenant an array', { org_id: ['acme'] }, 'tenantClaim'],
    ['tenant an object', { org_id: { id: 'acme' } }, 'tenantClaim'],
    ['tenant true', { org_id: true }, 'tenantClaim'],
    ['tenant a fraction', { org_id: 1.5 }, 'tenantClaim'],
    ['tenant beyond the safe integers', { org_id: 2 ** 53 }, 'tenantClaim'],
    ['tenant with NUL', { org_id: 'ac\0me' }, 'tenantClaim'],
    ['tenant too long', { org_id: 'x'.repeat(1025) }, 'tenantClaim'],
  ])('%s', async (_, overrides, reason) => {
    expect(await authOf(await sign(claims(overrides)))).toEqual({ verified: false, reason })
  })
})

describe('a refused signature', () => {
  test.each(['none', 'None', 'NONE', 'nOnE'])('alg %s', async (alg) => {
    expect(await authOf(unsigned({ alg }, claims()))).toMatchObject({ verified: false, reason: 'algorithm' })
  })

  test('an algorithm that is not listed, with the right secret', async () => {
    const long = new TextEncoder().encode('x'.repeat(64))
    expect(await authOf(await sign(claims(), long, { alg: 'HS512' }), { key: long })).toMatchObject({
      verified: false,
      reason: 'algorithm',
    })
  })

  test('the public key used as a shared secret (HS256 in place of RS256)', async () => {
    const pem = await exportSPKI(rsa.publicKey)
    const der = rsa.publicKey.export({ type: 'spki', format: 'der' })
    for (const secret of [pem, pem.trim(), der]) {
      const forged = await sign(claims(), createSecretKey(Buffer.from(secret as string)))
      expect(await authOf(forged, { key: rsa.publicKey, algorithms: ['RS256'] })).toMatchObject({
        verified: false,
        reason: 'algorithm',
      })
      const byFunction: JWTVerifyGetKey = async () => rsa.publicKey
      expect(await authOf(forged, { key: byFunction, algorithms: ['RS256'] })).toMatchObject({
        verified: false,
        reason: 'algorithm',
      })
    }
  })

  test("a listed algorithm that does not fit the key that a function finds is the token's fault", async () => {
    const token = await sign(claims(), generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, { alg: 'ES256' })
    expect(await authOf(token, { key: async () => rsa.publicKey, algorithms: ['RS256', 'ES256'] })).toMatchObject({
      verified: false,
      reason: 'algorithm',
    })
  })

  test('another key', async () => {
    expect(
      await authOf(await sign(claims(), new TextEncoder().encode('another secret of thirty-two bytes'))),
    ).toMatchObject({ reason: 'signature' })
    const token = await sign(claims(), otherRsa.privateKey, { alg: 'RS256' })
    expect(await authOf(token, { key: rsa.publicKey, algorithms: ['RS256'] })).toMatchObject({
      verified: false,
      reason: 'signature',
    })
  })

  test('a changed payload', async () => {
    const [header, , signature] = (await sign(claims())).split('.')
    const payload = base64url.encode(JSON.stringify(claims({ org_id: 'globex' })))
    expect(await authOf(`${header}.${payload}.${signature}`)).toMatchObject({ verified: false, reason: 'signature' })
  })

  test.each(['garbage', 'a.b', 'a.b.c', 'a.b.c.d.e', 'e30.e30.', 'e30.e30.e30', '..'])('garbage: %s', async (token) => {
    const auth = await authOf(token)
    expect(auth.verified).toBe(false)
    expect(['malformed', 'algorithm']).toContain((auth as { reason: string }).reason)
  })

  test('a critical header nobody understands', async () => {
    const token = await sign(claims(), SECRET, { alg: 'HS256', crit: ['x'], x: 1 } as never).catch(() =>
      unsigned({ alg: 'HS256', crit: ['x'], x: 1 }, claims()),
    )
    expect(await authOf(token)).toMatchObject({ verified: false })
  })
})

describe('a key function', () => {
  const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }
  const other = { ...otherRsa.publicKey.export({ format: 'jwk' }), alg: 'RS256' }
  const options = { algorithms: ['RS256'] } satisfies Partial<JwtAuthOptions>

  test("finds the key by its id; an unknown id is the token's fault", async () => {
    const key = createLocalJWKSet({ keys: [jwk, { ...other, kid: 'k2' }] })
    expect(
      await authOf(await sign(claims(), rsa.privateKey, { alg: 'RS256', kid: 'k1' }), { ...options, key }),
    ).toMatchObject({ verified: true })
    expect(
      await authOf(await sign(claims(), rsa.privateKey, { alg: 'RS256', kid: 'k9' }), { ...options, key }),
    ).toMatchObject({ reason: 'key' })
    expect(
      await authOf(await sign(claims(), otherRsa.privateKey, { alg: 'RS256', kid: 'k1' }), { ...options, key }),
    ).toMatchObject({ reason: 'signature' })
  })

  test('without an id every key of the set is tried', async () => {
    const { kid: _, ...first } = jwk
    const key = createLocalJWKSet({ keys: [first, other] })
    expect(await authOf(await sign(claims(), rsa.privateKey, { alg: 'RS256' }), { ...options, key })).toMatchObject({
      verified: true,
    })
    expect(
      await authOf(await sign(claims(), otherRsa.privateKey, { alg: 'RS256' }), { ...options, key }),
    ).toMatchObject({ verified: true })
    const third = generateKeyPairSync('rsa', { modulusLength: 2048 })
    expect(await authOf(await sign(claims(), third.privateKey, { alg: 'RS256' }), { ...options, key })).toMatchObject({
      reason: 'signature',
    })
    expect(
      await authOf(await sign(claims({ exp: 1 }), otherRsa.privateKey, { alg: 'RS256' }), { ...options, key }),
    ).toMatchObject({ reason: 'expired' })
  })

  test('an error of another copy of jose is known by its code', async () => {
    const key: JWTVerifyGetKey = async () => {
      throw Object.assign(new Error('no key'), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
    }
    expect(await authOf(await sign(claims(), rsa.privateKey, { alg: 'RS256' }), { ...options, key })).toMatchObject({
      reason: 'key',
    })
  })

  test.each([
    new TypeError('fetch failed'),
    new errors.JWKSTimeout(),
    new errors.JWKSInvalid(),
    new errors.JOSEError('Expected 200 OK'),
    'a text',
    undefined,
  ])('that fails (%s) says nothing about the token', async (failure) => {
    const key: JWTVerifyGetKey = async () => {
      throw failure
    }
    const auth = await authOf(await sign(claims(), rsa.privateKey, { alg: 'RS256' }), { ...options, key })
    expect(auth).toEqual({ verified: false, reason: 'unavailable' })
    expect((authCause(auth) as Error).cause).toBe(failure)
  })
})

describe('the Authorization header', () => {
  const auth = jwtAuth(rules)
  const good = async () => `Bearer ${await sign(claims())}`

  test('is needed', async () => {
    expect(await auth({ headers: {} })).toEqual({ verified: false, reason: 'missing' })
    expect(await auth({ headers: new Headers() })).toEqual({ verified: false, reason: 'missing' })
  })

  test('may come as Headers, in any case of "bearer", with spaces around', async () => {
    const token = await sign(claims())
    expect(await auth({ headers: new Headers({ authorization: `bearer  ${token} ` }) })).toMatchObject({
      verified: true,
    })
    expect(await auth({ headers: { authorization: ` BEARER ${token}` } })).toMatchObject({ verified: true })
  })

  test('must come once', async () => {
    const value = await good()
    expect(
      await auth({ headers: { authorization: value }, rawHeaders: ['Authorization', value, 'authorization', value] }),
    ).toEqual({
      verified: false,
      reason: 'malformed',
    })
    expect(await auth({ headers: { authorization: [value, value] } })).toEqual({ verified: false, reason: 'malformed' })
    expect(
      await auth({
        headers: new Headers([
          ['authorization', value],
          ['authorization', value],
        ]),
      }),
    ).toEqual({ verified: false, reason: 'malformed' })
    expect(
      await auth({ headers: { authorization: value }, rawHeaders: ['X-Authorization', value, 'Authorization', value] }),
    ).toMatchObject({ verified: true })
  })

  test.each(['', 'Bearer', 'Bearer ', 'Basic dTpw', 'Bearer a b', 'Bearer {token}', 'token'])(
    '%j is malformed',
    async (authorization) => {
      expect(await auth({ headers: { authorization } })).toEqual({ verified: false, reason: 'malformed' })
    },
  )

  test('is the only place: a token in the URL counts for nothing', async () => {
    const token = await sign(claims())
    const request = {
      headers: { host: 'x' },
      url: `/trpc/changes?access_token=${token}&authorization=Bearer%20${token}`,
      query: { access_token: token },
    }
    expect(await auth(request)).toEqual({ verified: false, reason: 'missing' })
  })
})

describe('options that would be a hole are refused at start', () => {
  const short = new Uint8Array(31)
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['no algorithms', { algorithms: undefined }, /"algorithms"/],
    ['empty algorithms', { algorithms: [] }, /"algorithms"/],
    ['none', { algorithms: ['none'] }, /"algorithms" "none"/],
    ['an inherited name', { algorithms: ['constructor'] }, /"algorithms"/],
    ['HS and RS together', { algorithms: ['HS256', 'RS256'] }, /together/],
    ['no issuer', { issuer: undefined }, /"issuer"/],
    ['empty issuer', { issuer: '' }, /"issuer"/],
    ['no audience', { audience: undefined }, /"audience"/],
    ['empty audiences', { audience: [] }, /"audience"/],
    ['audience with an empty name', { audience: ['a', ''] }, /"audience"/],
    ['no key', { key: undefined }, /"key"/],
    ['a text as key', { key: 'secret' }, /"key"/],
    ['a short secret', { key: short }, /at least 32 bytes/],
    ['a secret too short for HS512', { key: new Uint8Array(63), algorithms: ['HS256', 'HS512'] }, /at least 64 bytes/],
    ['a secret for RS256', { key: SECRET, algorithms: ['RS256'] }, /"key"/],
    ['a public key for HS256', { key: rsa.publicKey }, /"key"/],
    ['a private key', { key: rsa.privateKey, algorithms: ['RS256'] }, /private/],
    ['a private JWK', { key: rsa.privateKey.export({ format: 'jwk' }), algorithms: ['RS256'] }, /private/],
    ['a secret JWK for RS256', { key: { kty: 'oct', k: 'AA' }, algorithms: ['RS256'] }, /"key"/],
    ['an empty tenant claim', { tenantClaim: '' }, /"tenantClaim"/],
    ['a tenant claim that is no text', { tenantClaim: 1 }, /"tenantClaim"/],
    ['an empty permissions claim', { permissionsClaim: '' }, /"permissionsClaim"/],
    ['a negative tolerance', { clockToleranceSeconds: -1 }, /"clockToleranceSeconds"/],
    ['an endless tolerance', { clockToleranceSeconds: Infinity }, /"clockToleranceSeconds"/],
    ['a tolerance of an hour', { clockToleranceSeconds: 3600 }, /"clockToleranceSeconds"/],
    ['a text as tolerance', { clockToleranceSeconds: '1h' }, /"clockToleranceSeconds"/],
    ['a time as now', { now: 5 }, /"now"/],
  ]

  test.each(cases)('%s', (_, overrides, message) => {
    const options = { ...rules, ...overrides } as unknown as JwtAuthOptions
    expect(() => jwtAuth(options)).toThrow(TypeError)
    expect(() => jwtAuth(options)).toThrow(message)
  })

  test('no options at all', () => {
    expect(() => jwtAuth(undefined as unknown as JwtAuthOptions)).toThrow(TypeError)
  })

  test('what is right passes', () => {
    for (const key of [createPublicKey(rsa.privateKey), async () => rsa.publicKey]) {
      expect(() => jwtAuth({ ...rules, key, algorithms: ['RS256', 'PS256'] })).not.toThrow()
    }
    expect(() => jwtAuth({ ...rules, key: createSecretKey(SECRET) })).not.toThrow()
  })
})
