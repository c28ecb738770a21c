import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Cursor } from '../../src/cursor/cursor.ts'
import { settled, type Snapshot, unsettledIn } from '../../src/cursor/snapshot.ts'
import {
  type EntryList,
  headCursor,
  type LogEntry,
  oldestCursor,
  type PageView,
  planPage,
} from '../../src/read/plan-page.ts'

// The production planner over a simulated log: transactions begin, append, end in any order, readers read in between with tiny pages.
// At the end each reader must have been given every committed key exactly once, and "up to date" must have been a cut each time.

interface Transaction {
  readonly xid: bigint
  readonly entries: LogEntry[]
}

class Database {
  #nextXid = 10n
  #nextId = 1n
  #completed = 9n
  readonly open: Transaction[] = []
  readonly committed: LogEntry[] = []

  begin(): void {
    if (this.open.length < 5) this.open.push({ xid: this.#nextXid++, entries: [] })
  }

  append(which: number, table: number, keys: number): void {
    const tx = this.open[which % Math.max(1, this.open.length)]
    const id = this.#nextId
    tx?.entries.push({
      id: this.#nextId++,
      tx: tx.xid,
      table,
      op: 'u',
      tenant: null,
      at: '',
      from: 0,
      count: keys,
      keys: Array.from({ length: keys }, (_, i) => `${id}.${i}`),
    })
  }

  end(which: number, commit: boolean): void {
    const [tx] = this.open.splice(which % Math.max(1, this.open.length), 1)
    if (tx === undefined) return
    if (tx.xid > this.#completed) this.#completed = tx.xid
    if (commit) this.committed.push(...tx.entries)
    this.committed.sort((a, b) => Number(a.id - b.id))
  }

  snapshot(): Snapshot {
    const xmax = this.#completed + 1n
    const xip = this.open
      .map((tx) => tx.xid)
      .filter((x) => x < xmax)
      .toSorted((a, b) => Number(a - b))
    return { xmin: xip[0] ?? xmax, xmax, xip, next: this.#nextXid }
  }

  // What the statements of the dialect return, with `lookAt` entries before the filter of tables.
  view(cursor: Cursor | null, tables: readonly number[], limit: number, lookAt: number): PageView {
    const list = (entries: readonly LogEntry[], partOf: bigint, part: number): EntryList => {
      const found = entries.slice(0, lookAt)
      const kept: LogEntry[] = []
      let before = 0
      for (const entry of found) {
        if (!tables.includes(entry.table)) continue
        if (before >= limit) return { entries: kept, exhausted: false, lastId: kept.at(-1)?.id ?? 0n }
        const from = entry.id === partOf ? part : 0
        kept.push({ ...entry, from, keys: entry.keys?.slice(from, from + limit - before) ?? null })
        before += entry.count - from
      }
      return { entries: kept, exhausted: found.length < lookAt, lastId: found.at(-1)?.id ?? 0n }
    }
    const base = { now: this.snapshot(), floor: { id: 0n, xid: 0n }, max: this.committed.at(-1)?.id ?? 0n }
    const none: EntryList = { entries: [], exhausted: true, lastId: 0n }
    if (cursor === null) return { ...base, stragglers: none, fresh: none }
    const { hw, part, snap, drain } = cursor
    if (drain !== null) {
      const left = this.committed.filter(
        (e) => e.id > drain.after && e.id <= hw && !settled(e.tx, snap) && settled(e.tx, drain.to),
      )
      return { ...base, stragglers: list(left, drain.after + 1n, drain.part), fresh: none }
    }
    const { list: one, from, below } = unsettledIn(snap)
    const late = this.committed.filter(
      (e) => e.id <= hw && (one.includes(e.tx) || (e.tx >= from && (below === null || e.tx < below))),
    )
    return {
      ...base,
      stragglers: list(late, -1n, 0),
      fresh: list(
        this.committed.filter((e) => e.id > hw),
        hw + 1n,
        part,
      ),
    }
  }
}

class Reader {
  readonly #db: Database
  readonly #tables: readonly number[]
  readonly #limit: number
  readonly #lookAt: number
  readonly #known: Set<string>
  readonly seen: string[] = []
  #cursor: Cursor

  constructor(db: Database, fromNow: boolean, tables: readonly number[], limit: number, lookAt: number) {
    this.#db = db
    this.#tables = tables
    this.#limit = limit
    this.#lookAt = lookAt
    const view = db.view(null, tables, limit, lookAt)
    this.#cursor = fromNow ? headCursor(view) : oldestCursor(view)
    this.#known = new Set(fromNow ? this.#visible() : [])
  }

  #visible(): string[] {
    return this.#db.committed.filter((e) => this.#tables.includes(e.table)).flatMap((e) => (e.keys ?? []) as string[])
  }

  /** Committed keys this reader should have by now. */
  due(): string[] {
    return this.#visible().filter((key) => !this.#known.has(key))
  }

  step(): boolean {
    const plan = planPage(
      this.#cursor,
      this.#db.view(this.#cursor, this.#tables, this.#limit, this.#lookAt),
      this.#limit,
    )
    if (plan.kind !== 'page') throw new Error(`unexpected ${plan.kind}`)
    expect(plan.changes.length).toBeLessThanOrEqual(this.#limit)
    this.seen.push(...plan.changes.map((c) => c.key ?? ''))
    this.#cursor = plan.cursor
    if (!plan.hasMore) expect(this.seen.toSorted()).toEqual(this.due().toSorted())
    return plan.hasMore
  }
}

const table = fc.nat(1)
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      which: fc.nat(4),
      table,
      keys: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(4), commit: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('read' as const), which: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('reader' as const),
      fromNow: fc.boolean(),
      tables: fc.constantFrom([0], [1], [0, 1]),
      limit: fc.constantFrom(1, 2, 3, 50),
      lookAt: fc.constantFrom(2, 3, 60),
    }),
  },
)

it('delivers every committed key once to every reader, in every schedule', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 150, size: 'max' }), (steps) => {
      const db = new Database()
      const readers = [new Reader(db, false, [0, 1], 1, 60), new Reader(db, false, [0, 1], 2, 3)]
      for (const s of steps) {
        if (s.do === 'begin') db.begin()
        else if (s.do === 'append') db.append(s.which, s.table, s.keys)
        else if (s.do === 'end') db.end(s.which, s.commit)
        else if (s.do === 'reader') readers.push(new Reader(db, s.fromNow, s.tables, s.limit, s.lookAt))
        else readers[s.which % readers.length]?.step()
      }
      while (db.open.length > 0) db.end(0, true)
      for (const reader of readers) {
        for (let i = 0; reader.step(); i++) expect(i).toBeLessThan(1000)
        expect(new Set(reader.seen).size).toBe(reader.seen.length)
        expect(reader.seen.toSorted()).toEqual(reader.due().toSorted())
      }
    }),
    { numRuns: 2500 },
  )
})
