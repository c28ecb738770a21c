import type { LoggedEntry } from './log-truth.ts'
import type { Note } from './witness.ts'
import { rowName } from './write-order.ts'

/** Whether the log and the writers' notes speak of the same writes. */
export interface CaptureVerdict {
  /** Rows, and tables as a whole, written by a committed transaction that has no entry of them, as `tx table key`. */
  readonly uncaptured: readonly string[]
  /** Captured keys and table-level entries that no committed transaction noted, likewise. */
  readonly unexplained: readonly string[]
  /** Rows of which the last captured entry of a transaction says another end than the transaction gave them, likewise. */
  readonly misleading: readonly string[]
}

/**
 * Compares what was captured with what the writers noted, by row and transaction.
 *
 * @param migrated how often `migrate()` looked after a table: it may have announced the table as a whole each time.
 */
export function judgeCapture(
  log: ReadonlyMap<number, LoggedEntry>,
  committed: ReadonlyMap<string, readonly Note[]>,
  migrated: ReadonlyMap<string, number>,
): CaptureVerdict {
  const last = lastOperations(log)
  const noted = new Set<string>()
  const uncaptured = new Set<string>()
  const misleading: string[] = []
  for (const [tx, notes] of committed) {
    const fates = new Map(
      notes.map(({ table, key, fate }) => [key === null ? table : rowName(table, key), { key, fate }]),
    )
    for (const [name, { key, fate }] of fates) {
      const write = `${tx} ${name}`
      noted.add(write)
      const operation = last.get(write)
      if (operation === undefined) uncaptured.add(write)
      else if (key !== null && (operation === 'delete') !== (fate === 'left')) misleading.push(`${write}: ${operation}`)
    }
  }
  const announced = new Map(migrated)
  const unexplained = [...last].filter(([write, operation]) => {
    if (noted.has(write)) return false
    if (operation !== 'invalidate') return true
    const table = write.slice(write.indexOf(' ') + 1)
    const left = announced.get(table) ?? 0
    announced.set(table, left - 1)
    return left < 1
  })
  return { uncaptured: [...uncaptured], unexplained: unexplained.map(([write]) => write), misleading }
}

/** The last captured operation of each transaction on each row. A row that moves between tenants leaves one before it comes to the other. */
function lastOperations(log: ReadonlyMap<number, LoggedEntry>): ReadonlyMap<string, LoggedEntry['op']> {
  const last = new Map<string, LoggedEntry['op']>()
  for (const { table, tx, keys, op, explicit } of log.values()) {
    if (explicit) continue
    if (keys === null) last.set(`${tx} ${table}`, op)
    else for (const key of keys) last.set(`${tx} ${rowName(table, key)}`, op)
  }
  return last
}
