import { createHash } from 'node:crypto'
import { KEYS_PER_ENTRY } from '../log-limits.ts'
import type { Cursor, Drain } from './cursor.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Format version, the first byte of every cursor. A cursor of another version is answered by `resync: format`, never by an error.
 *
 * History: 1 — first version.
 */
const CURSOR_FORMAT = 1

/** Longest cursor text that is looked at. A cursor costs about two characters and a half for each transaction open when it was made. */
export const MAX_CURSOR_LENGTH = 65_536

const EPOCH_BYTES = 6
const AUDIENCE_BYTES = 4
const MAX_XIP = 20_000
/** Keeps `hw + 1` and every xid inside a signed 64-bit integer. */
const MAX_VALUE = (1n << 62n) - 1n

/** A decoded cursor with what binds it to a feed and an audience. */
export interface CursorEnvelope {
  /** 12 hex digits. */
  readonly epoch: string
  /** 8 hex digits, see {@link audienceHash}. */
  readonly audience: string
  readonly cursor: Cursor
}

export type DecodedCursor =
  | { readonly kind: 'cursor'; readonly envelope: CursorEnvelope }
  | { readonly kind: 'foreign-format' }
  | { readonly kind: 'malformed' }

/** Short hash that tells audiences apart. Not a secret and not a capability: a reader only ever sees its own audience's entries. */
export function audienceHash(kind: 'tenant' | 'global' | 'all', tenant: string | null): string {
  return createHash('sha256')
    .update(`${kind}:${tenant ?? ''}`)
    .digest('hex')
    .slice(0, AUDIENCE_BYTES * 2)
}

/** Url-safe text of a cursor: `decodeCursor(encodeCursor(e))` gives `e` back, and no other text decodes to it. */
export function encodeCursor({ epoch, audience, cursor }: CursorEnvelope): string {
  const bytes: number[] = [CURSOR_FORMAT, ...Buffer.from(epoch, 'hex'), ...Buffer.from(audience, 'hex')]
  writeInteger(bytes, cursor.hw)
  writeInteger(bytes, BigInt(cursor.part))
  writeSnapshot(bytes, cursor.snap)
  if (cursor.drain !== null) {
    writeSnapshot(bytes, cursor.drain.to)
    writeInteger(bytes, cursor.drain.after)
    writeInteger(bytes, BigInt(cursor.drain.part))
  }
  return Buffer.from(bytes).toString('base64url')
}

/** Reads a cursor's text. Never throws. */
export function decodeCursor(text: string): DecodedCursor {
  if (text.length === 0 || text.length > MAX_CURSOR_LENGTH || !/^[A-Za-z0-9_-]+$/.test(text))
    return { kind: 'malformed' }
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < 1 + EPOCH_BYTES + AUDIENCE_BYTES) return { kind: 'malformed' }
  if (bytes[0] !== CURSOR_FORMAT) return { kind: 'foreign-format' }
  const reader = new Reader(bytes, 1)
  try {
    const epoch = reader.hex(EPOCH_BYTES)
    const audience = reader.hex(AUDIENCE_BYTES)
    const hw = reader.integer()
    const part = reader.part()
    const snap = reader.snapshot()
    let drain: Drain | null = null
    if (!reader.atEnd()) drain = { to: reader.snapshot(), after: reader.integer(), part: reader.part() }
    const envelope: CursorEnvelope = { epoch, audience, cursor: { hw, part, snap, drain } }
    // One text per cursor: anything with slack (trailing bits, over-long integers) was not made here.
    return encodeCursor(envelope) === text ? { kind: 'cursor', envelope } : { kind: 'malformed' }
  } catch (error) {
    if (error instanceof MalformedCursor) return { kind: 'malformed' }
    throw error
  }
}

class MalformedCursor extends Error {}

// An integer is written seven bits a byte, least significant first, the high bit saying "more".
function writeInteger(bytes: number[], value: bigint): void {
  let rest = value
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
}

// xmax first, the others as distances from it or from each other: these are small, and so one or two bytes each.
function writeSnapshot(bytes: number[], s: Snapshot): void {
  writeInteger(bytes, s.xmax)
  writeInteger(bytes, s.xmax - s.xmin)
  writeInteger(bytes, s.next === null ? 0n : s.next - s.xmax + 1n)
  writeInteger(bytes, BigInt(s.xip.length))
  let from = s.xmin
  for (const x of s.xip) {
    writeInteger(bytes, x - from)
    from = x
  }
}

class Reader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  hex(length: number): string {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new MalformedCursor()
    const text = this.#bytes.toString('hex', this.#at, end)
    this.#at = end
    return text
  }

  integer(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined || shift > 63n) throw new MalformedCursor()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    if (value > MAX_VALUE) throw new MalformedCursor()
    return value
  }

  small(): number {
    const value = this.integer()
    if (value > 0x7fff_ffffn) throw new MalformedCursor()
    return Number(value)
  }

  part(): number {
    const value = this.small()
    if (value >= KEYS_PER_ENTRY) throw new MalformedCursor()
    return value
  }

  snapshot(): Snapshot {
    const xmax = this.integer()
    const xmin = xmax - this.integer()
    const bound = this.integer()
    const count = this.small()
    if (xmin < 0n || count > MAX_XIP) throw new MalformedCursor()
    const xip: bigint[] = []
    let from = xmin
    for (let i = 0; i < count; i++) {
      const step = this.integer()
      if (i > 0 && step === 0n) throw new MalformedCursor()
      from += step
      if (from >= xmax) throw new MalformedCursor()
      xip.push(from)
    }
    const next = bound === 0n ? null : xmax + bound - 1n
    if (next !== null && next > MAX_VALUE) throw new MalformedCursor()
    return { xmin, xmax, xip, next }
  }
}
