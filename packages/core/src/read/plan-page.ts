import { baseSnapshot, type Cursor } from '../cursor/cursor.ts'
import { dominates, everythingBelow, type Snapshot } from '../cursor/snapshot.ts'

/**
 * The page planner: the procedure of docs/cursor.md, steps 4 to 8, over what one statement saw. Pure: no database, no clock.
 */

/** Code of an entry's operation as the log stores it. */
export type OperationCode = 'c' | 'u' | 'd' | 'i'

/** One log entry as a read statement returns it. */
export interface LogEntry {
  readonly id: bigint
  readonly tx: bigint
  readonly table: number
  readonly op: OperationCode
  readonly tenant: string | null
  readonly at: string
  /** Ordinals before this one are delivered already. */
  readonly from: number
  /** Keys of the whole entry; 1 for a table-level entry. */
  readonly count: number
  /** Keys from ordinal `from` on, possibly not up to the end. `null`: a table-level entry. A `null` key is blanked: passed over, its ordinal counts. */
  readonly keys: readonly (string | null)[] | null
}

/** Entries in order of id, after the filter of tables. */
export interface EntryList {
  readonly entries: readonly LogEntry[]
  /** Whether nothing lies behind the last examined entry. */
  readonly exhausted: boolean
  /** Id of the last examined entry, wanted or not. Used only when the list is not exhausted. */
  readonly lastId: bigint
}

/** What one statement, so one snapshot, saw of one audience. */
export interface PageView {
  readonly now: Snapshot
  /** Largest pruned id and xid of the audience; zeros when nothing was pruned. */
  readonly floor: { readonly id: bigint; readonly xid: bigint }
  /** Largest visible id of the audience, whatever the filter of tables; 0 for an empty log. */
  readonly max: bigint
  /** Entries up to the cursor's high-water mark that its snapshot had not seen. */
  readonly stragglers: EntryList
  /** Entries above the high-water mark. Not looked at while draining. */
  readonly fresh: EntryList
}

/** One change to deliver: the entry and the ordinal of the key in it. */
export interface PlannedChange {
  readonly entry: LogEntry
  readonly ordinal: number
  readonly key: string | null
}

export type PagePlan =
  | { readonly kind: 'held' }
  | { readonly kind: 'pruned' }
  | {
      readonly kind: 'page'
      readonly changes: readonly PlannedChange[]
      readonly cursor: Cursor
      readonly hasMore: boolean
    }

/** Plans the page that follows `cursor`: at most `limit` changes, and the cursor behind them. */
export function planPage(cursor: Cursor, view: PageView, limit: number): PagePlan {
  if (!dominates(view.now, baseSnapshot(cursor))) return { kind: 'held' }
  if (cursor.hw < view.floor.id || cursor.snap.xmin <= view.floor.xid) return { kind: 'pruned' }

  const changes: PlannedChange[] = []
  const stragglersCut = take(view.stragglers, changes, limit)
  if (stragglersCut !== null) {
    const drain = { to: cursor.drain?.to ?? view.now, after: stragglersCut.id, part: stragglersCut.part }
    return { kind: 'page', changes, cursor: { ...cursor, drain }, hasMore: true }
  }
  if (cursor.drain !== null) {
    return { kind: 'page', changes, cursor: { ...cursor, snap: cursor.drain.to, drain: null }, hasMore: true }
  }
  const freshCut = take(view.fresh, changes, limit)
  if (freshCut !== null) {
    const next: Cursor = { hw: freshCut.id, part: freshCut.part, snap: view.now, drain: null }
    return { kind: 'page', changes, cursor: next, hasMore: true }
  }
  const hw = largest(cursor.hw, view.max, view.floor.id)
  return { kind: 'page', changes, cursor: { hw, part: 0, snap: view.now, drain: null }, hasMore: false }
}

/** The head: a cursor behind everything the view sees. */
export function headCursor(view: Pick<PageView, 'now' | 'max' | 'floor'>): Cursor {
  return { hw: largest(view.max, view.floor.id), part: 0, snap: view.now, drain: null }
}

/** The oldest retained cursor. Its straggler half is what long writers left at or below the floor. */
export function oldestCursor(view: Pick<PageView, 'floor'>): Cursor {
  return { hw: view.floor.id, part: 0, snap: everythingBelow(view.floor.xid + 1n), drain: null }
}

interface Cut {
  readonly id: bigint
  readonly part: number
}

/** Takes keys into `changes` up to `limit`. Returns where it had to stop, or `null` when the list is at its end. */
function take(list: EntryList, changes: PlannedChange[], limit: number): Cut | null {
  for (const entry of list.entries) {
    const keys = entry.keys ?? [null]
    for (const [i, key] of keys.entries()) {
      const ordinal = entry.from + i
      if (key === null && entry.keys !== null) continue
      if (changes.length >= limit) return { id: entry.id - 1n, part: ordinal }
      changes.push({ entry, ordinal, key })
    }
    const reached = entry.from + keys.length
    if (reached < entry.count) return { id: entry.id - 1n, part: reached }
  }
  return list.exhausted ? null : { id: list.lastId, part: 0 }
}

function largest(first: bigint, ...rest: bigint[]): bigint {
  let max = first
  for (const value of rest) if (value > max) max = value
  return max
}
