import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  audienceHash,
  type CursorEnvelope,
  decodeCursor,
  encodeCursor,
  MAX_CURSOR_LENGTH,
} from '../../src/cursor/codec.ts'
import type { Snapshot } from '../../src/cursor/snapshot.ts'

const value = fc.bigInt(0n, (1n << 62n) - 1n)
const snapshot = fc
  .record({
    xmax: fc.bigInt(1_000n, 1n << 40n),
    below: fc.uniqueArray(fc.bigInt(1n, 900n), { maxLength: 40 }),
    extra: fc.option(fc.bigInt(0n, 5_000n)),
  })
  .map(({ xmax, below, extra }): Snapshot => {
    const xip = below.map((distance) => xmax - distance).toSorted((a, b) => (a < b ? -1 : 1))
    return { xmin: xip[0] ?? xmax, xmax, xip, next: extra === null ? null : xmax + extra }
  })
const part = fc.nat(999)
const envelope: fc.Arbitrary<CursorEnvelope> = fc.record({
  epoch: fc.stringMatching(/^[0-9a-f]{12}$/),
  audience: fc.stringMatching(/^[0-9a-f]{8}$/),
  cursor: fc.record({
    hw: value,
    part,
    snap: snapshot,
    drain: fc.option(fc.record({ to: snapshot, after: value, part })),
  }),
})

const usual: CursorEnvelope = {
  epoch: '0123456789ab',
  audience: audienceHash('tenant', 'acme'),
  cursor: {
    hw: 48_000_000_000n,
    part: 0,
    snap: { xmin: 7_000_000_000n, xmax: 7_000_000_003n, xip: [7_000_000_000n, 7_000_000_001n], next: 7_000_000_004n },
    drain: null,
  },
}

describe('cursor text', () => {
  it('gives every cursor back', () => {
    fc.assert(
      fc.property(envelope, (e) => {
        const text = encodeCursor(e)
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(decodeCursor(text)).toEqual({ kind: 'cursor', envelope: e })
      }),
      { numRuns: 2000 },
    )
  })

  it('is short in the usual case', () => {
    expect(encodeCursor(usual).length).toBeLessThan(60)
  })

  it('never throws, and one cursor has one text', () => {
    fc.assert(
      fc.property(envelope, fc.nat(), fc.constantFrom(...'ABCDEFGHabcdefgh0123-_='), (e, at, letter) => {
        const text = encodeCursor(e)
        const i = at % text.length
        const changed = text.slice(0, i) + letter + text.slice(i + 1)
        const decoded = decodeCursor(changed)
        if (decoded.kind === 'cursor') expect(encodeCursor(decoded.envelope)).toBe(changed)
      }),
      { numRuns: 3000 },
    )
    fc.assert(fc.property(fc.string(), (text) => void decodeCursor(text)))
  })

  it.each([
    ['empty', ''],
    ['not base64url', 'AQ==!'],
    ['too short', 'AQ'],
    ['cut off', encodeCursor(usual).slice(0, -2)],
    ['with a tail', `${encodeCursor(usual)}AA`],
    ['too long', 'A'.repeat(MAX_CURSOR_LENGTH + 1)],
    [
      'an over-long integer',
      Buffer.from([
        1,
        ...new Array(10).fill(0),
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
      ]).toString('base64url'),
    ],
    [
      'an integer with a needless byte',
      Buffer.from([1, ...new Array(10).fill(0), 0x81, 0x00, 0, 5, 0, 0, 0]).toString('base64url'),
    ],
    [
      'a high-water mark beyond any id',
      Buffer.from([1, ...new Array(10).fill(0), ...new Array(8).fill(0xff), 0x7f, 0, 5, 0, 0, 0]).toString('base64url'),
    ],
    [
      'more transactions than a server can have',
      Buffer.from([1, ...new Array(10).fill(0), 1, 0, 5, 0, 0, 0xff, 0xff, 0x7f]).toString('base64url'),
    ],
    [
      'a place no entry has',
      Buffer.from([1, ...new Array(10).fill(0), 1, 0xe8, 0x07, 5, 0, 0, 0]).toString('base64url'),
    ],
    [
      'an open transaction at xmax',
      Buffer.from([1, ...new Array(10).fill(0), 1, 0, 5, 0, 0, 1, 0]).toString('base64url'),
    ],
  ])('refuses a text that is %s', (_, text) => {
    expect(decodeCursor(text)).toEqual({ kind: 'malformed' })
  })

  it('tells another format version from garbage', () => {
    const bytes = Buffer.from(encodeCursor(usual), 'base64url')
    bytes[0] = 2
    expect(decodeCursor(bytes.toString('base64url'))).toEqual({ kind: 'foreign-format' })
  })
})

describe('audience hash', () => {
  it('tells kinds and tenants apart', () => {
    const all = [
      audienceHash('tenant', 'a'),
      audienceHash('tenant', ''),
      audienceHash('tenant', 'b'),
      audienceHash('global', null),
      audienceHash('all', null),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})
