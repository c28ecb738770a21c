import { createSecretKey, generateKeyPairSync, webcrypto } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { base64url } from 'jose'
import { describe, expect, test } from 'vitest'
import { jwtAuth } from '../../src/index.ts'
import type { JwtAlgorithm, JwtAuthOptions } from '../../src/index.ts'
import { claims, rules, sign } from '../support/tokens.ts'

type Key = JwtAuthOptions['key']
type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

const { subtle } = webcrypto
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 })
const oddRsa = generateKeyPairSync('rsa', { modulusLength: 2047 })
const rsaPss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
const ed25519 = generateKeyPairSync('ed25519')
const ed448 = generateKeyPairSync('ed448')

const jwkOf = ({ publicKey }: Pair) => publicKey.export({ format: 'jwk' })
const octets = (bytes: number) => new Uint8Array(bytes).fill(7)
const oct = (bytes: number) => ({ kty: 'oct', k: base64url.encode(octets(bytes)) })

async function hmac(bytes: number, hash = 'SHA-256'): Promise<Key> {
  return subtle.importKey('raw', octets(bytes), { name: 'HMAC', hash }, false, ['sign', 'verify'])
}

async function cryptoKey(pair: Pair, algorithm: object, usages: 'verify'[] = ['verify']): Promise<Key> {
  return subtle.importKey('jwk', jwkOf(pair), algorithm as { name: string }, true, usages)
}

const start = (key: Key, algorithms: readonly JwtAlgorithm[]) => jwtAuth({ ...rules, key, algorithms })

describe.each([
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
] as const)('a secret for %s', (algorithm, bytes) => {
  const forms: [string, (length: number) => Key | Promise<Key>][] = [
    ['bytes', octets],
    ['a KeyObject', (length) => createSecretKey(octets(length))],
    ['a JWK', oct],
    ['a CryptoKey', (length) => hmac(length, `SHA-${algorithm.slice(2)}`)],
  ]
  test.each(forms)('as %s is as long as the hash at least', async (_, make) => {
    const [right, short] = [await make(bytes), await make(bytes - 1)]
    const { authorization } = { authorization: `Bearer ${await sign(claims(), octets(bytes), { alg: algorithm })}` }
    expect(await start(right, [algorithm])({ headers: { authorization } })).toMatchObject({ verified: true })
    expect(() => start(short, [algorithm])).toThrow(TypeError)
    expect(() => start(short, [algorithm])).toThrow(
      `jwtAuth: "key" a secret for ${algorithm} must have at least ${bytes} bytes`,
    )
  })
})

test.each([
  ['a KeyObject', createSecretKey(octets(32))],
  ['a JWK', oct(32)],
])('the longest hash of the list counts for %s', (_, key) => {
  expect(() => start(key, ['HS256', 'HS512'])).toThrow(/"key" a secret for HS512 must have at least 64 bytes/)
})

describe('a key that fits verifies', () => {
  const pairs: [JwtAlgorithm, Pair, object][] = [
    ['RS256', rsa, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }],
    ['PS512', rsa, { name: 'RSA-PSS', hash: 'SHA-512' }],
    ['ES256', p256, { name: 'ECDSA', namedCurve: 'P-256' }],
    ['ES384', p384, { name: 'ECDSA', namedCurve: 'P-384' }],
    ['ES512', p521, { name: 'ECDSA', namedCurve: 'P-521' }],
    ['EdDSA', ed25519, { name: 'Ed25519' }],
    ['Ed25519', ed25519, { name: 'Ed25519' }],
  ]
  test.each(pairs)('%s', async (alg, pair, algorithm) => {
    const authorization = `Bearer ${await sign(claims(), pair.privateKey, { alg })}`
    const limited = { ...jwkOf(pair), alg, use: 'sig', key_ops: ['verify'] }
    for (const key of [pair.publicKey, jwkOf(pair), limited, await cryptoKey(pair, algorithm)]) {
      expect(await start(key, [alg])({ headers: { authorization } })).toMatchObject({ verified: true })
    }
  })

  test('one key may serve several algorithms of its type', () => {
    expect(() => start(rsa.publicKey, ['RS256', 'RS512', 'PS256'])).not.toThrow()
    expect(() => start(jwkOf(rsa), ['RS256', 'RS512', 'PS256'])).not.toThrow()
    expect(() => start(ed25519.publicKey, ['EdDSA', 'Ed25519'])).not.toThrow()
    expect(() => start(octets(64), ['HS256', 'HS512'])).not.toThrow()
  })
})

describe('a key that does not fit is refused at start', () => {
  const rs256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const cases: [string, () => unknown, JwtAlgorithm[], RegExp][] = [
    ['EC for RS256', () => p256.publicKey, ['RS256'], /type P-256 cannot verify RS256/],
    ['RSA for ES256', () => rsa.publicKey, ['ES256'], /type RSA cannot verify ES256/],
    ['RSA for RS256 and ES256', () => rsa.publicKey, ['RS256', 'ES256'], /cannot verify ES256/],
    ['P-384 for ES256', () => p384.publicKey, ['ES256'], /type P-384 cannot verify ES256/],
    ['secp256k1 for ES256', () => secp256k1.publicKey, ['ES256'], /type secp256k1 cannot/],
    ['Ed25519 for ES256', () => ed25519.publicKey, ['ES256'], /type Ed25519 cannot/],
    ['Ed448 for EdDSA', () => ed448.publicKey, ['EdDSA'], /type ed448 cannot verify EdDSA/],
    ['RSA-PSS for RS256', () => rsaPss.publicKey, ['RS256'], /type rsa-pss cannot/],
    ['RSA of 1,024 bits', () => weakRsa.publicKey, ['RS256'], /at least 2048 bits/],
    ['RSA of 2,047 bits', () => oddRsa.publicKey, ['PS256'], /at least 2048 bits/],
    ['JWK: EC for RS256', () => jwkOf(p256), ['RS256'], /type P-256 cannot/],
    ['JWK: RSA for ES256', () => jwkOf(rsa), ['ES256'], /type RSA cannot/],
    ['JWK: P-521 for ES384', () => jwkOf(p521), ['ES384'], /type P-521 cannot/],
    ['JWK: EC without curve', () => ({ ...jwkOf(p256), crv: undefined }), ['ES256'], /type EC cannot/],
    ['JWK: Ed448 for EdDSA', () => jwkOf(ed448), ['EdDSA'], /type Ed448 cannot/],
    ['JWK: RSA of 1,024 bits', () => jwkOf(weakRsa), ['RS256'], /at least 2048 bits/],
    ['JWK: RSA of 2,047 bits', () => jwkOf(oddRsa), ['RS256'], /at least 2048 bits/],
    ['JWK: RSA padded to 2,048 bits', () => padded(weakRsa), ['RS256'], /at least 2048 bits/],
    ['JWK: RSA without modulus', () => ({ kty: 'RSA', e: 'AQAB' }), ['RS256'], /"n" is missing/],
    ['JWK: EC without a coordinate', () => ({ ...jwkOf(p256), y: undefined }), ['ES256'], /"y" is missing/],
    ['JWK: Ed25519 without value', () => ({ kty: 'OKP', crv: 'Ed25519' }), ['EdDSA'], /"x" is missing/],
    ['JWK: secret without value', () => ({ kty: 'oct' }), ['HS256'], /"k" is missing/],
    ['JWK: secret that is no base64url', () => ({ kty: 'oct', k: '!'.repeat(64) }), ['HS256'], /"k" is missing or not/],
    ['JWK: limited to another alg', () => ({ ...jwkOf(rsa), alg: 'RS512' }), ['RS256'], /"alg" is "RS512"/],
    ['JWK: secret limited to another alg', () => ({ ...oct(64), alg: 'HS512' }), ['HS256'], /"alg" is "HS512"/],
    ['JWK: for encryption', () => ({ ...jwkOf(rsa), use: 'enc' }), ['RS256'], /"use" or "key_ops"/],
    ['JWK: for signing', () => ({ ...jwkOf(rsa), key_ops: ['sign'] }), ['RS256'], /"use" or "key_ops"/],
    ['CryptoKey: EC for RS256', () => cryptoKey(p256, { name: 'ECDSA', namedCurve: 'P-256' }), ['RS256'], /type P-256/],
    ['CryptoKey: P-384 for ES256', () => cryptoKey(p384, { name: 'ECDSA', namedCurve: 'P-384' }), ['ES256'], /P-384/],
    [
      'CryptoKey: RS256 for RS512',
      () => cryptoKey(rsa, rs256),
      ['RS256', 'RS512'],
      /made for .* SHA-256 cannot verify RS512/,
    ],
    ['CryptoKey: RS256 for PS256', () => cryptoKey(rsa, rs256), ['PS256'], /made for RSASSA-PKCS1-v1_5/],
    ['CryptoKey: RSA of 1,024 bits', () => cryptoKey(weakRsa, rs256), ['RS256'], /at least 2048 bits/],
    [
      'CryptoKey: not for verifying',
      () => cryptoKey(p256, { name: 'ECDSA', namedCurve: 'P-256' }, []),
      ['ES256'],
      /usages/,
    ],
    ['CryptoKey: HS256 for HS512', () => hmac(64), ['HS512'], /made for HMAC SHA-256 cannot verify HS512/],
    ['a public key for HS256', () => rsa.publicKey, ['HS256'], /type RSA cannot verify HS256/],
    ['a secret for ES256', () => oct(32), ['ES256'], /shared secret cannot verify ES256/],
    ['a key set', () => ({ keys: [jwkOf(rsa)] }), ['RS256'], /createLocalJWKSet/],
    ['a pair', () => rsa, ['RS256'], /must be a jose key/],
  ]

  function padded(pair: Pair): object {
    const jwk = jwkOf(pair)
    const modulus = base64url.decode(jwk.n as string)
    return { ...jwk, n: base64url.encode(Buffer.concat([new Uint8Array(256 - modulus.byteLength), modulus])) }
  }

  test.each(cases)('%s', async (_, make, algorithms, message) => {
    const key = (await make()) as Key
    expect(() => start(key, algorithms)).toThrow(TypeError)
    expect(() => start(key, algorithms)).toThrow(/^jwtAuth: "key" /)
    expect(() => start(key, algorithms)).toThrow(message)
  })

  test('and its message holds nothing of a secret', () => {
    const k = base64url.encode('hunter2-hunter2')
    expect(() => start({ kty: 'oct', k }, ['HS256'])).toThrow(/^(?!.*aHVudGVy).*at least 32 bytes$/)
  })
})
