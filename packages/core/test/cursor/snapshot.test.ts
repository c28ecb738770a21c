import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dominates, parseSnapshot, settled, type Snapshot, unsettledIn } from '../../src/cursor/snapshot.ts'

const snapshots = fc
  .record({ xmax: fc.bigInt(1n, 14n), open: fc.uniqueArray(fc.bigInt(0n, 13n)), extra: fc.option(fc.bigInt(0n, 5n)) })
  .map(({ xmax, open, extra }): Snapshot => {
    const xip = open.filter((x) => x < xmax).toSorted((a, b) => Number(a - b))
    return { xmin: xip[0] ?? xmax, xmax, xip, next: extra === null ? null : xmax + extra }
  })

const ids = Array.from({ length: 30 }, (_, i) => BigInt(i))

describe('dominates', () => {
  it('says that everything settled in the second is settled in the first', () => {
    fc.assert(
      fc.property(snapshots, snapshots, (a, b) => {
        expect(dominates(a, b)).toBe(ids.every((x) => !settled(x, b) || settled(x, a)))
      }),
      { numRuns: 3000 },
    )
  })

  it('counts a gap of any size instead of walking it', () => {
    const old = parseSnapshot('5:5:', null)
    const far = parseSnapshot(`5:${2n ** 60n}:`, null)
    expect(dominates(old, far)).toBe(false)
    expect(dominates(far, old)).toBe(true)
  })
})

describe('unsettledIn', () => {
  it('covers exactly the unsettled transactions below the bound, each once', () => {
    fc.assert(
      fc.property(snapshots, (s) => {
        const { list, from, below } = unsettledIn(s)
        expect(new Set(list).size).toBe(list.length)
        for (const x of ids) {
          const covered = list.includes(x) || (x >= from && (below === null || x < below))
          expect(covered).toBe(!settled(x, s) && (s.next === null || x < s.next))
          if (list.includes(x)) expect(x >= from && (below === null || x < below)).toBe(false)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps a wide gap as a range', () => {
    expect(unsettledIn({ xmin: 5n, xmax: 7n, xip: [5n], next: 10_000n })).toEqual({
      list: [5n],
      from: 7n,
      below: 10_000n,
    })
  })
})
