import type { LogEntry } from '../../../src/read/plan-page.ts'
import type { Snapshot } from '../../../src/cursor/snapshot.ts'

/** Tenants of the model. The last is global: every tenant's audience has it too. */
export const TENANTS = ['a', 'b', null] as const
export const TABLES = 2
/** Rows of one tenant in one table: more than the smallest pages hold. */
export const ROWS = 5

/** An entry of the simulated log, as one version of its row: compaction makes another one. */
export interface StoredEntry {
  readonly id: number
  readonly tx: number
  /** Index in {@link TENANTS}. */
  readonly tenant: number
  readonly table: number
  /** Keys are numbered through in the order in which they were appended: of one row, the later change has the larger number. */
  readonly firstKey: number
  /** The rows its keys stand for, locked by its transaction; `null`: an explicit or a table-level entry. */
  readonly rows: readonly number[] | null
  /** The entry as a read statement returns the whole of it. The text of a key is its number. */
  readonly logged: LogEntry
}

/** What pruning recorded for one tenant. */
export interface Floor {
  readonly id: number
  readonly xid: number
  /** When the newest mark was made that pruning went by. */
  readonly markedAt: number
  /** When it was last raised. */
  readonly raisedAt: number
}

/** A moment of the database, as a repeatable-read transaction keeps seeing it. */
export interface Instant {
  readonly at: number
  readonly now: Snapshot
  /** Visible entries in order of id. */
  readonly log: readonly StoredEntry[]
  /** How many entries pruning had removed by then. */
  readonly pruned: number
  /** One for each of {@link TENANTS}. */
  readonly floors: readonly Floor[]
  /** Entries of transactions below this one are past their retention: pruned, or about to be. */
  readonly expired: number
}

const noFloor: Floor = { id: 0, xid: 0, markedAt: -1, raisedAt: -1 }

export const noFloors: readonly Floor[] = TENANTS.map(() => noFloor)

/** The floor of several tenants together. `audience` is a set of tenants, bit by bit. */
export function floorOf(floors: readonly Floor[], audience: number): Floor {
  let floor = noFloor
  for (const [tenant, { id, xid, markedAt, raisedAt }] of floors.entries()) {
    if ((audience & (1 << tenant)) === 0 || raisedAt < 0) continue
    floor = {
      id: Math.max(floor.id, id),
      xid: Math.max(floor.xid, xid),
      markedAt: Math.max(floor.markedAt, markedAt),
      raisedAt: Math.max(floor.raisedAt, raisedAt),
    }
  }
  return floor
}

/** The floors after `removed` was pruned. */
export function raiseFloors(
  floors: readonly Floor[],
  removed: readonly StoredEntry[],
  markedAt: number,
  raisedAt: number,
): readonly Floor[] {
  const raised = [...floors]
  for (const { id, tx, tenant } of removed) {
    const before = raised[tenant] ?? noFloor
    raised[tenant] = {
      id: Math.max(before.id, id),
      xid: Math.max(before.xid, tx),
      markedAt: Math.max(before.markedAt, markedAt),
      raisedAt,
    }
  }
  return raised
}

/**
 * The log after compaction below `xmin`: a key is blanked when a later entry of the same row, below `xmin` too, supersedes it. An entry without any key
 * left is taken out if `remove` says so. Only captured entries count: an explicit one holds no lock on a row. Notes in `blanked` which keys, and when.
 */
export function compacted(
  log: readonly StoredEntry[],
  xmin: number,
  remove: boolean,
  blanked: Map<number, number>,
  at: number,
): readonly StoredEntry[] {
  const lastOf = new Map<number, number>()
  for (const { id, tx, rows } of log) if (tx < xmin) for (const row of rows ?? []) lastOf.set(row, id)
  const result: StoredEntry[] = []
  for (const entry of log) {
    const { id, tx, firstKey, rows, logged } = entry
    if (rows === null || tx >= xmin || rows.every((row) => lastOf.get(row) === id)) {
      result.push(entry)
      continue
    }
    const keys: (string | null)[] = []
    for (const [i, row] of rows.entries()) {
      const superseded = lastOf.get(row) !== id
      if (superseded && !blanked.has(firstKey + i)) blanked.set(firstKey + i, at)
      keys.push(superseded ? null : (logged.keys?.[i] ?? null))
    }
    if (!remove || keys.some((key) => key !== null)) result.push({ ...entry, logged: { ...logged, keys } })
  }
  return result
}
