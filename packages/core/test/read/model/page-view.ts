import type { Cursor } from '../../../src/cursor/cursor.ts'
import type { EntryList, LogEntry, PageView } from '../../../src/read/plan-page.ts'
import { floorOf, type Instant, type StoredEntry } from './log.ts'
import type { Planner } from './planner.ts'

/** What a chain of reads asks for, again and again. */
export interface Request {
  /** Set of tenants, bit by bit. */
  readonly audience: number
  /** Set of tables, bit by bit. */
  readonly tables: number
  /** Changes on a page at most. */
  readonly limit: number
  /** Entries looked at for a page, before the filter of tables. */
  readonly lookAt: number
}

const nothing: EntryList = { entries: [], exhausted: true, lastId: 0n }

/** What the read statement returns in the snapshot of `instant`: the part of the SQL, spelled out over the simulated log. */
export function pageView(planner: Planner, instant: Instant, cursor: Cursor | null, request: Request): PageView {
  const { audience } = request
  const floor = floorOf(instant.floors, audience)
  const head = { now: instant.now, floor: { id: BigInt(floor.id), xid: BigInt(floor.xid) } }
  const mine = instant.log.filter((entry) => (audience & (1 << entry.tenant)) !== 0)
  const max = mine.at(-1)?.logged.id ?? 0n
  if (cursor === null) return { ...head, max, stragglers: nothing, fresh: nothing }

  const hw = Number(cursor.hw)
  if (cursor.drain !== null) {
    const { to, part } = cursor.drain
    const after = Number(cursor.drain.after)
    const wanted = (tx: bigint): boolean =>
      (tx >= cursor.snap.xmax || cursor.snap.xip.includes(tx)) && tx < to.xmax && !to.xip.includes(tx)
    const left = mine.filter((entry) => entry.id > after && entry.id <= hw && wanted(entry.logged.tx))
    return { ...head, max, stragglers: list(left, after + 1, part, request), fresh: nothing }
  }
  const { list: each, from, below } = planner.unsettledIn(cursor.snap)
  const unsettled = (tx: bigint): boolean => (tx >= from && (below === null || tx < below)) || each.includes(tx)
  const late = mine.filter((entry) => entry.id <= hw && unsettled(entry.logged.tx))
  const fresh = mine.filter((entry) => entry.id > hw)
  return { ...head, max, stragglers: list(late, -1, 0, request), fresh: list(fresh, hw + 1, cursor.part, request) }
}

// The running sum counts blanked keys, as the statement's does: what it keeps may hold fewer changes than the limit.
function list(sorted: readonly StoredEntry[], partOf: number, part: number, request: Request): EntryList {
  const { tables, limit, lookAt } = request
  const kept: LogEntry[] = []
  let before = 0
  let examined = 0
  let last = 0n
  for (const { id, table, logged } of sorted) {
    if (examined === lookAt) break
    if ((tables & (1 << table)) !== 0) {
      if (before >= limit) return { entries: kept, exhausted: false, lastId: kept.at(-1)?.id ?? 0n }
      const from = id === partOf ? part : 0
      kept.push({ ...logged, from, keys: logged.keys?.slice(from, from + limit - before) ?? null })
      before += logged.count - from
    }
    examined++
    last = logged.id
  }
  return { entries: kept, exhausted: examined < lookAt, lastId: last }
}
