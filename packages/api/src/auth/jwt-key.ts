import { base64url } from 'jose'
import { wrongOption } from './wrong-option.ts'

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

/** The key an algorithm needs. A `CryptoKey` is made for one algorithm: `name` and, for some, `hash`. */
interface Need {
  readonly kind: 'secret' | 'RSA' | 'EC' | 'OKP'
  /** RFC 7518, sections 3.2 and 3.3: a secret is as long as the hash, an RSA modulus has 2,048 bits. */
  readonly minBits?: number
  readonly curve?: string
  readonly name: string
  readonly hash?: string
}

const needs: Readonly<Record<JwtAlgorithm, Need>> = {
  HS256: { kind: 'secret', minBits: 256, name: 'HMAC', hash: 'SHA-256' },
  HS384: { kind: 'secret', minBits: 384, name: 'HMAC', hash: 'SHA-384' },
  HS512: { kind: 'secret', minBits: 512, name: 'HMAC', hash: 'SHA-512' },
  RS256: { kind: 'RSA', minBits: 2048, name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  RS384: { kind: 'RSA', minBits: 2048, name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' },
  RS512: { kind: 'RSA', minBits: 2048, name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
  PS256: { kind: 'RSA', minBits: 2048, name: 'RSA-PSS', hash: 'SHA-256' },
  PS384: { kind: 'RSA', minBits: 2048, name: 'RSA-PSS', hash: 'SHA-384' },
  PS512: { kind: 'RSA', minBits: 2048, name: 'RSA-PSS', hash: 'SHA-512' },
  ES256: { kind: 'EC', curve: 'P-256', name: 'ECDSA' },
  ES384: { kind: 'EC', curve: 'P-384', name: 'ECDSA' },
  ES512: { kind: 'EC', curve: 'P-521', name: 'ECDSA' },
  EdDSA: { kind: 'OKP', curve: 'Ed25519', name: 'Ed25519' },
  Ed25519: { kind: 'OKP', curve: 'Ed25519', name: 'Ed25519' },
}

/** Refuses algorithms that no one should accept, and sets of them that no one should accept together. */
export function checkAlgorithms(algorithms: unknown): JwtAlgorithm[] {
  if (!Array.isArray(algorithms) || algorithms.length === 0)
    throw wrongOption('algorithms', "list those in use, such as ['RS256']")
  const known = algorithms.map((algorithm): JwtAlgorithm => {
    if (Object.hasOwn(needs, algorithm)) return algorithm as JwtAlgorithm
    throw wrongOption('algorithms', `"${String(algorithm)}" is not a signature algorithm that can be trusted`)
  })
  if (new Set(known.map((algorithm) => needs[algorithm].kind === 'secret')).size > 1)
    throw wrongOption('algorithms', 'shared-secret (HS…) and public-key algorithms must not be accepted together')
  return known
}

/**
 * Refuses a key that is weak, private, or cannot verify one of the algorithms: tokens of that algorithm would be refused
 * one by one at run time. What a key function finds is checked by jose, token by token.
 */
export function checkKey(key: unknown, algorithms: readonly JwtAlgorithm[]): void {
  if (typeof key === 'function') return
  const facts = factsOf(key)
  if (facts === undefined) {
    throw wrongOption(
      'key',
      "must be a jose key, a JWK, a Uint8Array, or a function; import PEM text with jose's importSPKI, encode a secret with TextEncoder, pass a key set through createLocalJWKSet",
    )
  }
  if (facts.type === 'private') throw wrongOption('key', 'is a private key; pass the public one')
  if (facts.forbids !== undefined) throw wrongOption('key', facts.forbids)
  for (const algorithm of algorithms) checkFit(facts, algorithm)
}

/** What the forms of a key say of themselves, in the same words. */
interface KeyFacts {
  readonly type: 'secret' | 'public' | 'private'
  /** A kind of {@link Need}, or another that fits none. */
  readonly kind: string
  /** Length of a secret or of an RSA modulus. */
  readonly bits?: number | undefined
  readonly curve?: string | undefined
  /** What a `CryptoKey` was made for. */
  readonly made?: { readonly name: unknown; readonly hash: unknown }
  /** The algorithm a JWK is limited to. */
  readonly alg?: string | undefined
  /** Why the key may not verify at all. */
  readonly forbids?: string | undefined
}

function checkFit(facts: KeyFacts, algorithm: JwtAlgorithm): void {
  const { kind, minBits, curve, name, hash } = needs[algorithm]
  const { made } = facts
  const what = facts.kind === 'secret' ? 'a shared secret' : `a key of type ${facts.curve ?? facts.kind}`
  if (facts.kind !== kind || facts.curve !== curve)
    throw wrongOption('key', `${what} cannot verify ${algorithm}; pass the key that does, or correct "algorithms"`)
  if (made !== undefined && (made.name !== name || (hash !== undefined && made.hash !== hash)))
    throw wrongOption(
      'key',
      `a CryptoKey made for ${String(made.name)} ${String(made.hash ?? '')} cannot verify ${algorithm}`,
    )
  if (facts.alg !== undefined && facts.alg !== algorithm)
    throw wrongOption('key', `a JWK whose "alg" is "${facts.alg}" cannot verify ${algorithm}`)
  if (minBits === undefined || (facts.bits ?? 0) >= minBits) return
  throw wrongOption(
    'key',
    kind === 'secret'
      ? `a secret for ${algorithm} must have at least ${minBits / 8} bytes`
      : `an RSA key must have a modulus of at least ${minBits} bits`,
  )
}

function factsOf(key: unknown): KeyFacts | undefined {
  if (typeof key !== 'object' || key === null) return undefined
  if (key instanceof Uint8Array) return { type: 'secret', kind: 'secret', bits: key.byteLength * 8 }
  const fields = key as Readonly<Record<string, unknown>>
  if (typeof fields['kty'] === 'string') return ofJwk(fields)
  // As jose tells them: the class may be of another realm.
  const tag = (key as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]
  if (tag === 'CryptoKey') return ofCryptoKey(key as LooseCryptoKey)
  return tag === 'KeyObject' ? ofKeyObject(key as LooseKeyObject) : undefined
}

interface LooseKeyObject {
  readonly type: KeyFacts['type']
  readonly symmetricKeySize?: number
  readonly asymmetricKeyType?: string
  readonly asymmetricKeyDetails?: { readonly modulusLength?: number; readonly namedCurve?: string }
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }
const objectKinds: Readonly<Record<string, string>> = { rsa: 'RSA', ec: 'EC', ed25519: 'OKP' }

function ofKeyObject({
  type,
  symmetricKeySize,
  asymmetricKeyType = '',
  asymmetricKeyDetails,
}: LooseKeyObject): KeyFacts {
  if (type === 'secret') return { type, kind: 'secret', bits: (symmetricKeySize ?? 0) * 8 }
  const { modulusLength, namedCurve } = asymmetricKeyDetails ?? {}
  const curve = asymmetricKeyType === 'ed25519' ? 'Ed25519' : namedCurve && (curves[namedCurve] ?? namedCurve)
  return { type, kind: objectKinds[asymmetricKeyType] ?? asymmetricKeyType, bits: modulusLength, curve }
}

interface LooseCryptoKey {
  readonly type: KeyFacts['type']
  readonly usages: readonly string[]
  readonly algorithm: {
    readonly name: string
    readonly hash?: { readonly name: string }
    readonly length?: number
    readonly modulusLength?: number
    readonly namedCurve?: string
  }
}

const cryptoKinds: Readonly<Record<string, string>> = {
  HMAC: 'secret',
  'RSASSA-PKCS1-v1_5': 'RSA',
  'RSA-PSS': 'RSA',
  ECDSA: 'EC',
  Ed25519: 'OKP',
}

function ofCryptoKey({ type, usages, algorithm }: LooseCryptoKey): KeyFacts {
  const { name, hash, length, modulusLength, namedCurve } = algorithm
  return {
    type,
    kind: cryptoKinds[name] ?? name,
    bits: length ?? modulusLength,
    curve: name === 'Ed25519' ? name : namedCurve,
    made: { name, hash: hash?.name },
    forbids: usages.includes('verify') ? undefined : 'is a CryptoKey whose usages do not include "verify"',
  }
}

function ofJwk(jwk: Readonly<Record<string, unknown>>): KeyFacts {
  const { kty, crv, alg, use, key_ops: operations } = jwk
  const shared = {
    alg: typeof alg === 'string' ? alg : undefined,
    forbids:
      (use === undefined || use === 'sig') && (!Array.isArray(operations) || operations.includes('verify'))
        ? undefined
        : 'is a JWK whose "use" or "key_ops" forbids to verify signatures',
  }
  if (kty === 'oct') return { type: 'secret', kind: 'secret', bits: bitsOf(jwk['k'], 'k'), ...shared }
  const type = jwk['d'] === undefined && jwk['priv'] === undefined ? 'public' : 'private'
  if (kty === 'RSA') return { type, kind: 'RSA', bits: bitsOf(jwk['n'], 'n', true), ...shared }
  if (kty === 'EC' || kty === 'OKP') bytesOf(jwk['x'], 'x')
  if (kty === 'EC') bytesOf(jwk['y'], 'y')
  return { type, kind: String(kty), curve: typeof crv === 'string' ? crv : undefined, ...shared }
}

function bytesOf(text: unknown, field: string): Uint8Array {
  try {
    if (typeof text === 'string') return base64url.decode(text)
  } catch {
    // Told below, as a missing one is: the decoder's own words may hold some of the text.
  }
  throw wrongOption('key', `is a JWK whose "${field}" is missing or not base64url`)
}

// A number's leading zeros do not count, a secret's do.
function bitsOf(text: unknown, field: string, isNumber = false): number {
  const bytes = bytesOf(text, field)
  if (!isNumber) return bytes.byteLength * 8
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (bytes.byteLength - first) * 8 - (Math.clz32(bytes[first]!) - 24)
}
