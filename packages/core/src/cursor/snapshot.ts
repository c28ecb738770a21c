/**
 * A Postgres snapshot as the cursor keeps it: which transactions had ended when a page was read (docs/cursor.md, "The cursor").
 *
 * `next` is an upper bound that Postgres' own snapshot lacks: every transaction that can own an entry with an id up to the
 * high-water mark has an id below it. `null` means no bound is known. See docs/decisions/0003-straggler-bound.md.
 */
export interface Snapshot {
  readonly xmin: bigint
  readonly xmax: bigint
  /** In progress, ascending, all in [xmin, xmax). */
  readonly xip: readonly bigint[]
  readonly next: bigint | null
}

/** Whether transaction `x` had ended in snapshot `s`. */
export function settled(x: bigint, s: Snapshot): boolean {
  return x < s.xmax && !s.xip.includes(x)
}

/**
 * Whether everything settled in `b` is settled in `a` too. A cursor is only read in a snapshot that dominates its own
 * (docs/cursor.md, "Never backwards").
 */
export function dominates(a: Snapshot, b: Snapshot): boolean {
  for (const x of a.xip) if (settled(x, b)) return false
  if (a.xmax >= b.xmax) return true
  // All of [a.xmax, b.xmax) must be in progress in b. Counted, not looped: the gap can be huge.
  const inGap = b.xip.filter((x) => x >= a.xmax).length
  return b.xmax - a.xmax === BigInt(inGap)
}

/** Reads `xmin:xmax:xip,…` as `pg_current_snapshot()` prints it. */
export function parseSnapshot(text: string, next: bigint | null): Snapshot {
  const [xmin, xmax, xip] = text.split(':')
  if (xmin === undefined || xmax === undefined || xip === undefined) throw new Error('unexpected snapshot text')
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), xip: xip === '' ? [] : xip.split(',').map(BigInt), next }
}

/** The snapshot that settles everything below `x` and nothing else. */
export function everythingBelow(x: bigint): Snapshot {
  return { xmin: x, xmax: x, xip: [], next: null }
}

/** The transactions unsettled in `s`, as the two shapes an index can look up: a list, and a half-open range. */
export interface Unsettled {
  readonly list: readonly bigint[]
  readonly from: bigint
  /** `null`: no upper end. */
  readonly below: bigint | null
}

/** Up to this many ids a range is looked up one by one, which lets the tenant be part of the index condition. */
const ENUMERATE_UP_TO = 1000n

export function unsettledIn(s: Snapshot): Unsettled {
  if (s.next === null || s.next - s.xmax > ENUMERATE_UP_TO) return { list: s.xip, from: s.xmax, below: s.next }
  const list = [...s.xip]
  for (let x = s.xmax; x < s.next; x++) list.push(x)
  return { list, from: s.next, below: s.next }
}
