import type { Note } from './witness.ts'

/** The truth about the order in which transactions wrote each key. */
export interface WriteOrder {
  /** Transaction ids in order, by {@link rowName}. */
  readonly orderOf: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Places where the version counters of rows contradict the notes: then the witness is wrong, and so would be its verdicts. */
  readonly contradictions: readonly string[]
}

/** Name of a row in maps. */
export function rowName(table: string, key: string): string {
  return `${table} ${key}`
}

/** Orders the transactions of each key by their first note, and checks the notes against the rows' own counters. */
export function writeOrder(committed: ReadonlyMap<string, readonly Note[]>): WriteOrder {
  const byRow = new Map<string, { tx: string; note: Note }[]>()
  for (const [tx, notes] of committed) {
    for (const note of notes) {
      if (note.key === null) continue
      const name = rowName(note.table, note.key)
      const list = byRow.get(name)
      if (list === undefined) byRow.set(name, [{ tx, note }])
      else list.push({ tx, note })
    }
  }
  const orderOf = new Map<string, Map<string, number>>()
  const contradictions: string[] = []
  for (const [name, list] of byRow) {
    list.sort((a, b) => a.note.seq - b.note.seq)
    const order = new Map<string, number>()
    let previous: { tx: string; note: Note } | null = null
    for (const entry of list) {
      if (!order.has(entry.tx)) order.set(entry.tx, order.size)
      else if (previous?.tx !== entry.tx)
        contradictions.push(`${name}: transaction ${entry.tx} wrote before and after another`)
      const problem = previous === null ? null : contradiction(previous.note, entry.note)
      if (problem !== null) contradictions.push(`${name}: ${problem}`)
      previous = entry
    }
    orderOf.set(name, order)
  }
  return { orderOf, contradictions }
}

function contradiction(before: Note, after: Note): string | null {
  if (after.fate === 'wrote') {
    if (before.fate === 'left') return `written at version ${after.version} although it had left`
    if (before.version !== null && after.version !== null && after.version !== before.version + 1) {
      return `version ${after.version} follows ${before.version}`
    }
  }
  if (after.fate === 'left' && before.fate === 'left') return 'left twice'
  return null
}
