import type { Change } from '@tidemark/core'
import type { LoggedEntry, RowSet } from './log-truth.ts'
import type { TortureTable } from './schema.ts'

interface Known {
  readonly present: boolean
  readonly entry: number
  readonly ordinal: number
}

/**
 * The replica a reader of this chain has built by the readers' rules: of the changes of a row the one with the largest position counts, create and
 * update are alike, and what precedes a table-level entry is void, since the table was read anew. Returns the rows in which the replica differs from the
 * tables as they are now.
 *
 * @param start rows the reader began with: none, or what it loaded when it began from now.
 * @param end the rows of the chain's audience and tables after the run.
 */
export function replicaFaults(
  deliveries: readonly Change<TortureTable>[],
  log: ReadonlyMap<number, LoggedEntry>,
  start: RowSet,
  end: RowSet,
): string[] {
  const replica = new Map<TortureTable, Map<string, Known>>([...end.keys()].map((table) => [table, new Map()]))
  const invalidated = new Map<TortureTable, number>()
  for (const [table, rows] of start)
    for (const key of rows.keys()) replica.get(table)?.set(key, { present: true, entry: 0, ordinal: 0 })
  for (const { table, key, operation, position } of deliveries) {
    const entry = Number(position.entry)
    if (key === null) {
      invalidated.set(table, Math.max(invalidated.get(table) ?? 0, entry))
      continue
    }
    // An explicit entry announces a row that nobody need have written here.
    if (log.get(entry)?.explicit === true) continue
    const rows = replica.get(table)
    const known = rows?.get(key)
    if (known !== undefined && (known.entry > entry || (known.entry === entry && known.ordinal > position.ordinal)))
      continue
    rows?.set(key, { present: operation !== 'delete', entry, ordinal: position.ordinal })
  }
  const faults: string[] = []
  for (const [table, rows] of end) {
    const mine = replica.get(table) ?? new Map<string, Known>()
    const readAnewAt = invalidated.get(table) ?? 0
    for (const [key, { present, entry }] of mine) {
      if (entry >= readAnewAt && present !== rows.has(key))
        faults.push(`${table} ${key}: ${present ? 'kept, but gone' : 'dropped, but there'}`)
    }
    for (const key of rows.keys()) if (!mine.has(key)) faults.push(`${table} ${key}: never announced`)
  }
  return faults
}
