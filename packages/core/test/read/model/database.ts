import type { Snapshot } from '../../../src/cursor/snapshot.ts'
import { compacted, type Instant, noFloors, raiseFloors, ROWS, type StoredEntry, TABLES, TENANTS } from './log.ts'

const MOST_OPEN = 6
/** More than the planner looks up one by one. */
const MANY_IDS = 1200

interface Writer {
  /** 0 until it needs one. */
  xid: number
  /** The largest id that ends with it: its own or a subtransaction's. */
  last: number
  readonly entries: StoredEntry[]
}

interface Mark {
  readonly at: number
  readonly xmin: number
}

/** A simulated Postgres with the feed's log: transaction ids, snapshots, row locks, pruning and compaction; no SQL. */
export class Database {
  #at = 0
  #nextXid = 10
  #completed = 9
  #nextId = 1
  #nextKey = 0
  #idle: Writer | null = null
  readonly #open: Writer[] = []
  readonly #lockedBy = new Map<number, Writer>()
  readonly #marks: Mark[] = []
  #log: readonly StoredEntry[] = []
  #floors = noFloors
  #expired = 0
  #instant: Instant | null = null
  /** Everything that was ever appended, by id. */
  readonly history: StoredEntry[] = []
  /** What pruning removed, as it was at that time. */
  readonly pruned: StoredEntry[] = []
  /** When compaction blanked a key. */
  readonly blanked: Map<number, number> = new Map()
  /** Row of each key; -1 for a key that stands for no locked row. */
  readonly rowOfKey: number[] = []
  /** Transaction ids that ended or may end, at least the last of each range that was handed out at once. */
  readonly xids: bigint[] = []

  /** @param wide a transaction stays open that writes nothing and, before each other takes its id, hands out ids to subtransactions. */
  constructor(wide: boolean) {
    if (!wide) return
    this.#idle = { xid: 0, last: 0, entries: [] }
    this.#assign(this.#idle)
  }

  /** Begins a transaction. It takes its id now, or with its first entry. */
  begin(early: boolean): void {
    if (this.#open.length === MOST_OPEN) return
    const writer: Writer = { xid: 0, last: 0, entries: [] }
    this.#open.push(writer)
    if (early) this.#assign(writer)
    this.#instant = null
  }

  /** A statement that changes those of `rows` (a set, bit by bit) which no other transaction holds; it locks them until its transaction ends. */
  write(which: number, tenant: number, table: number, rows: number): void {
    const writer = this.#writer(which)
    if (writer === null) return
    const changed: number[] = []
    for (let i = 0; i < ROWS; i++) {
      const row = (tenant * TABLES + table) * ROWS + i
      const holder: Writer = this.#lockedBy.get(row) ?? writer
      if ((rows & (1 << i)) === 0 || holder !== writer) continue
      this.#lockedBy.set(row, writer)
      changed.push(row)
    }
    if (changed.length > 0) this.#append(writer, tenant, table, changed.length, changed)
  }

  /** An explicit entry: `keys` keys, none of which stands for a locked row; with 0 a table-level one. */
  append(which: number, tenant: number, table: number, keys: number): void {
    const writer = this.#writer(which)
    if (writer !== null) this.#append(writer, tenant, table, keys, null)
  }

  /** Hands out `ids` ids to subtransactions. Those that are rolled back end at once, the others with their parent. */
  subtransactions(which: number, ids: number, rolledBack: boolean): void {
    const writer = this.#writer(which)
    if (writer === null) return
    this.#assign(writer)
    const last = this.#takeXids(ids)
    if (rolledBack) this.#complete(last)
    else writer.last = last
    this.#instant = null
  }

  end(which: number, commit: boolean): void {
    const writer = this.#writer(which)
    if (writer === null) return
    this.#open.splice(this.#open.indexOf(writer), 1)
    for (const [row, holder] of this.#lockedBy) if (holder === writer) this.#lockedBy.delete(row)
    if (writer.xid !== 0) this.#complete(writer.last)
    if (commit && writer.entries.length > 0) {
      this.#log = [...this.#log, ...writer.entries].sort((one, other) => one.id - other.id)
    }
    this.#instant = null
  }

  endAll(): void {
    while (this.#open.length > 0) this.end(0, true)
    if (this.#idle !== null) this.#complete(this.#idle.last)
    this.#idle = null
    this.#instant = null
  }

  /** A retention mark: everything below its xmin had ended. */
  mark(): void {
    const xmin = Number(this.instant().now.xmin)
    this.#complete(this.#takeXids(1))
    this.#marks.push({ at: ++this.#at, xmin })
    this.#instant = null
  }

  /** Removes at most `batch` entries below a mark and raises the floors, in one transaction. */
  prune(which: number, batch: number): void {
    const mark = this.#markAt(which)
    if (mark === null) return
    const removed = this.#log.filter((entry) => entry.tx < mark.xmin).slice(0, batch)
    if (removed.length === 0) return
    this.#complete(this.#takeXids(1))
    this.#floors = raiseFloors(this.#floors, removed, mark.at, ++this.#at)
    this.#expired = Math.max(this.#expired, mark.xmin)
    this.pruned.push(...removed)
    this.#log = this.#log.filter((entry) => !removed.includes(entry))
    this.#instant = null
  }

  compact(which: number, remove: boolean): void {
    const mark = this.#markAt(which)
    if (mark === null) return
    this.#complete(this.#takeXids(1))
    this.#log = compacted(this.#log, mark.xmin, remove, this.blanked, ++this.#at)
    this.#instant = null
  }

  /** What a transaction sees that takes its snapshot now. */
  instant(): Instant {
    this.#instant ??= {
      at: ++this.#at,
      now: this.#snapshot(),
      log: this.#log,
      pruned: this.pruned.length,
      floors: this.#floors,
      expired: this.#expired,
    }
    return this.#instant
  }

  /** Whether something had ended in `base` that had not ended in `now`: the truth about `dominates`, one transaction after another. */
  endedOnlyIn(base: Snapshot, now: Snapshot): boolean {
    const ended = (x: bigint, s: Snapshot): boolean => x < s.xmax && !s.xip.includes(x)
    return this.xids.some((x) => ended(x, base) && !ended(x, now))
  }

  // xmax is the latest completed id + 1, not the next id: transactions at or above it may be running, and hold small entry ids.
  #snapshot(): Snapshot {
    const xmax = this.#completed + 1
    const open = this.#idle === null ? this.#open : [this.#idle, ...this.#open]
    const running = open.map((writer) => writer.xid).filter((xid) => xid !== 0 && xid < xmax)
    const xip = running.sort((one, other) => one - other).map(BigInt)
    return { xmin: xip[0] ?? BigInt(xmax), xmax: BigInt(xmax), xip, next: BigInt(this.#nextXid) }
  }

  #writer(which: number): Writer | null {
    return this.#open[which % Math.max(1, this.#open.length)] ?? null
  }

  #markAt(which: number): Mark | null {
    return this.#marks[which % Math.max(1, this.#marks.length)] ?? null
  }

  #takeXids(count: number): number {
    this.#nextXid += count
    const last = this.#nextXid - 1
    this.xids.push(BigInt(last))
    return last
  }

  #complete(xid: number): void {
    this.#completed = Math.max(this.#completed, xid)
  }

  #assign(writer: Writer): void {
    if (writer.xid !== 0) return
    if (this.#idle !== null && this.#idle !== writer) this.#idle.last = this.#takeXids(MANY_IDS)
    writer.xid = writer.last = this.#takeXids(1)
  }

  // The transaction has its xid before the entry's id is handed out: `next` is a bound because of that.
  #append(writer: Writer, tenant: number, table: number, keys: number, rows: readonly number[] | null): void {
    this.#assign(writer)
    const id = this.#nextId++
    const count = Math.max(1, keys)
    const firstKey = this.#nextKey
    this.#nextKey += count
    for (let i = 0; i < count; i++) this.rowOfKey.push(rows?.[i] ?? -1)
    const entry: StoredEntry = {
      id,
      tx: writer.xid,
      tenant,
      table,
      firstKey,
      rows,
      logged: {
        id: BigInt(id),
        tx: BigInt(writer.xid),
        table,
        op: keys === 0 ? 'i' : 'u',
        tenant: TENANTS[tenant] ?? null,
        at: '',
        from: 0,
        count,
        keys: keys === 0 ? null : Array.from({ length: keys }, (_, i) => String(firstKey + i)),
      },
    }
    writer.entries.push(entry)
    this.history[id] = entry
    this.#instant = null
  }
}
