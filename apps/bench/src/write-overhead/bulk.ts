import type pg from 'pg'
import { progress } from '../cli/output.ts'
import { median, round } from '../cli/statistics.ts'
import { type BenchTable, rebuild, tableNames } from './tables.ts'
import { rowOf } from '../cli/bench-table.ts'

export const ROWS_PER_STATEMENT = 10_000
const SPARE_IDS = 10_000_000

/** Time of one statement over 10,000 rows, captured ÷ uncaptured. */
export interface BulkReport {
  /** Median of the pairs' ratios. */
  readonly update: number
  readonly updateRatios: readonly number[]
  /** The same between two uncaptured tables. */
  readonly updateControl: number
  /** 10,000 rows of all tenants and scopes inserted, and deleted again. */
  readonly insert: number
  readonly delete: number
  /** Median milliseconds. */
  readonly ms: Readonly<Record<'update' | 'insert' | 'delete', { readonly plain: number; readonly tracked: number }>>
}

/**
 * Each statement updates another 10,000 rows of densely packed tables: no update is HOT, and no pair finds more room than the next. The rows are of
 * all tenants and scopes, so that they cannot be one entry.
 */
export async function measureBulk(
  admin: pg.Client,
  url: string,
  options: { readonly rows: number; readonly pairs: number; readonly wrote: (rows: number) => void },
  connect: (url: string) => Promise<pg.Client>,
): Promise<BulkReport> {
  const client = await connect(url)
  try {
    // A pooled connection has written single rows before: the functions' plans are those of such writes.
    for (const table of tableNames)
      for (let i = 1; i <= 8; i++) await client.query(`update ${table} set title = $1 where id = $2`, [`warm ${i}`, i])
    options.wrote(8)
    const ranges = Math.floor(options.rows / ROWS_PER_STATEMENT)
    const updates = new Times()
    const inserts = new Times()
    const deletes = new Times()
    for (let pair = 0; pair < options.pairs; pair++) {
      if (pair % ranges === 0) await rebuild(admin)
      const first = 1 + (pair % ranges) * ROWS_PER_STATEMENT
      const order = pair % 2 === 0 ? tableNames : tableNames.toReversed()
      for (const table of order) {
        updates.add(
          table,
          await timed(
            client,
            `update ${table} set title = title || '.' where id between ${first} and ${first + ROWS_PER_STATEMENT - 1}`,
          ),
        )
      }
      for (const table of order) {
        const last = SPARE_IDS + ROWS_PER_STATEMENT - 1
        inserts.add(
          table,
          await timed(
            client,
            `insert into ${table} select ${rowOf('g')} from generate_series(${SPARE_IDS}, ${last}) g`,
          ),
        )
      }
      for (const table of order)
        deletes.add(table, await timed(client, `delete from ${table} where id >= ${SPARE_IDS}`))
      options.wrote(3 * ROWS_PER_STATEMENT)
      for (const table of tableNames) await admin.query(`vacuum analyze ${table}`)
      progress(
        `bulk ${pair + 1}/${options.pairs}: update ${updates.line()}; insert ${inserts.line()}; delete ${deletes.line()}`,
      )
    }
    return {
      update: round(median(updates.ratios('tracked'))),
      updateRatios: updates.ratios('tracked').map((ratio) => round(ratio)),
      updateControl: round(median(updates.ratios('control'))),
      insert: round(median(inserts.ratios('tracked'))),
      delete: round(median(deletes.ratios('tracked'))),
      ms: { update: updates.medians(), insert: inserts.medians(), delete: deletes.medians() },
    }
  } finally {
    await client.end()
  }
}

export async function timed(client: pg.Client, statement: string): Promise<number> {
  const start = performance.now()
  const { rowCount } = await client.query(statement)
  const ms = performance.now() - start
  if (rowCount !== ROWS_PER_STATEMENT) throw new Error(`a bulk statement wrote ${rowCount} rows`)
  return ms
}

class Times {
  readonly #ms = new Map<BenchTable, number[]>(tableNames.map((name) => [name, []]))

  add(table: BenchTable, ms: number): void {
    this.#of(table).push(ms)
  }

  ratios(table: BenchTable): number[] {
    return this.#of(table).map((ms, i) => ms / (this.#of('plain')[i] ?? Number.NaN))
  }

  medians(): { plain: number; tracked: number } {
    return { plain: round(median(this.#of('plain')), 1), tracked: round(median(this.#of('tracked')), 1) }
  }

  line(): string {
    return `${round(this.#of('plain').at(-1) ?? 0, 1)} → ${round(this.#of('tracked').at(-1) ?? 0, 1)} ms`
  }

  #of(table: BenchTable): number[] {
    return this.#ms.get(table) ?? []
  }
}
