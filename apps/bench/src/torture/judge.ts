import type { Change } from '@tidemark/core'
import type { LoggedEntry } from './log-truth.ts'
import { rowName } from './write-order.ts'

/** A chain's deliveries compared with the truth. Everything but `deliveries`, `ordered` and `late` is a fault. */
export interface Verdict {
  readonly deliveries: number
  /** Changes the chain should have been given and was not. */
  readonly missed: number
  /** Deliveries of a change it had been given before. */
  readonly repeated: number
  /** Deliveries of what it should not see: another audience's, another table's, or older than its start. */
  readonly foreign: number
  /** Deliveries that say something else than the log's entry. */
  readonly wrong: number
  /** Deliveries of a row's change after a later transaction's change of the same row. */
  readonly outOfOrder: number
  /** Deliveries that could have been: of rows of which another transaction's change was delivered before. */
  readonly ordered: number
  /** Deliveries of an entry with a smaller id than one delivered before: transactions that committed late. */
  readonly late: number
}

/** Keys of an entry are fewer than this. */
const ORDINALS = 65_536

/**
 * Compares a chain's deliveries with the entries it should have been given.
 *
 * @param log all entries, by id.
 * @param expected ids of the entries this chain should have been given, all of their keys.
 * @param orderOf for each row, in which order transactions wrote it, by {@link rowName}; entries that are not in it are not judged.
 */
export function judge(
  deliveries: readonly Change[],
  log: ReadonlyMap<number, LoggedEntry>,
  expected: ReadonlySet<number>,
  orderOf: ReadonlyMap<string, ReadonlyMap<string, number>>,
): Verdict {
  const seen = new Set<number>()
  const newest = new Map<string, number>()
  let [repeated, foreign, wrong, outOfOrder, ordered, late, highest] = [0, 0, 0, 0, 0, 0, 0]
  for (const change of deliveries) {
    const id = Number(change.position.entry)
    const place = id * ORDINALS + change.position.ordinal
    if (id < highest) late += 1
    highest = Math.max(highest, id)
    if (seen.has(place)) {
      repeated += 1
      continue
    }
    seen.add(place)
    const entry = log.get(id)
    if (entry === undefined || !expected.has(id)) {
      foreign += 1
      continue
    }
    if (!agrees(change, entry)) wrong += 1
    // An explicit entry holds no lock on the row: its place proves nothing.
    if (change.key === null || entry.explicit) continue
    const name = rowName(change.table, change.key)
    const index = orderOf.get(name)?.get(change.tx)
    if (index === undefined) continue
    const before = newest.get(name)
    if (before !== undefined && before !== index) ordered += 1
    if (before !== undefined && index < before) outOfOrder += 1
    else newest.set(name, index)
  }
  let missed = 0
  for (const id of expected) {
    const keys = log.get(id)?.keys?.length ?? 1
    for (let ordinal = 0; ordinal < keys; ordinal++) if (!seen.has(id * ORDINALS + ordinal)) missed += 1
  }
  return { deliveries: deliveries.length, missed, repeated, foreign, wrong, outOfOrder, ordered, late }
}

function agrees(change: Change, entry: LoggedEntry): boolean {
  return (
    change.table === entry.table &&
    change.operation === entry.op &&
    change.tenant === entry.tenant &&
    change.tx === entry.tx &&
    (entry.keys === null
      ? change.key === null && change.position.ordinal === 0
      : change.key === entry.keys[change.position.ordinal])
  )
}
