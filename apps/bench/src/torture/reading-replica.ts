import type { Audience, Change } from '@tidemark/core'
import { type Executor, type ExistingRow, existingRows, type RowSet, rowsByKey } from './existing-rows.ts'
import type { TortureTable } from './tables.ts'

/** Keys that are collected before their rows are read. */
const BATCH = 500

/**
 * A replica for which every change is a hint: it reads the named rows, or the whole table after a table-level entry, and believes what it finds. It reads some
 * time after the page, as clients do.
 */
export class ReadingReplica {
  readonly #audience: Audience
  readonly #rows: Map<TortureTable, Map<string, ExistingRow>>
  readonly #keys = new Map<TortureTable, Set<string>>()
  readonly #tables = new Set<TortureTable>()
  #waiting = 0

  constructor(audience: Audience, tables: readonly TortureTable[]) {
    this.#audience = audience
    this.#rows = new Map(tables.map((table) => [table, new Map()]))
  }

  /** What the reader loads before its first page. */
  load(rows: RowSet): void {
    for (const [table, ofTable] of rows) this.#rows.set(table, new Map(ofTable))
  }

  take(changes: readonly Change<TortureTable>[]): void {
    for (const { table, key } of changes) {
      this.#waiting += 1
      if (key === null) {
        this.#tables.add(table)
        continue
      }
      const keys = this.#keys.get(table)
      if (keys === undefined) this.#keys.set(table, new Set([key]))
      else keys.add(key)
    }
  }

  /** Whether enough is waiting to be read before the last page. */
  get full(): boolean {
    return this.#waiting >= BATCH
  }

  /** Reads what was announced. */
  async read(db: Executor): Promise<void> {
    if (this.#tables.size > 0) this.load(await existingRows(db, this.#audience, [...this.#tables]))
    for (const [table, keys] of this.#keys) {
      if (this.#tables.has(table)) continue
      const found = await rowsByKey(db, this.#audience, table, [...keys])
      const rows = this.#rows.get(table)
      for (const key of keys) {
        const row = found.get(key)
        if (row === undefined) rows?.delete(key)
        else rows?.set(key, row)
      }
    }
    this.#tables.clear()
    this.#keys.clear()
    this.#waiting = 0
  }

  /** Rows in which it differs from the tables. */
  differences(end: RowSet): string[] {
    const faults: string[] = []
    for (const [table, rows] of end) {
      const mine = this.#rows.get(table) ?? new Map<string, ExistingRow>()
      for (const key of new Set([...rows.keys(), ...mine.keys()])) {
        const [here, there] = [mine.get(key), rows.get(key)]
        if (here?.tenant !== there?.tenant || here?.content !== there?.content)
          faults.push(`${table} ${key}: ${textOf(here)} instead of ${textOf(there)}`)
      }
    }
    return faults
  }
}

function textOf(row: ExistingRow | undefined): string {
  return row === undefined ? 'nothing' : `${JSON.stringify(row.tenant)} ${row.content}`
}
