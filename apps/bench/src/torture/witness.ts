import type { TortureTable } from './schema.ts'

/*
 * What really happened, as the writers saw it, without a look at the log. A writer notes each row when the statement that wrote it has returned,
 * and commits only after that. It holds the row's lock (or the key's place in the unique index) from before the note until its commit, so
 * the next writer of the same key returns later: the order of the notes is the order in which transactions wrote a key.
 */

/** How a statement left a key: written on, newly there, or free. */
export type Fate = 'wrote' | 'arrived' | 'left'

/** One key written by one statement of a committed transaction. */
export interface Note {
  readonly table: TortureTable
  /** Canonical text; `null` for the whole table. */
  readonly key: string | null
  readonly fate: Fate
  /** The row's version counter afterwards; `null` when unknown or gone. */
  readonly version: number | null
  readonly seq: number
}

/** All committed notes of a run. */
export class Witness {
  /** By transaction id. */
  readonly committed: Map<string, readonly Note[]> = new Map()
  #seq = 0

  nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  begin(): TransactionWitness {
    return new TransactionWitness(this)
  }

  commit(tx: string, notes: readonly Note[]): void {
    if (notes.length === 0) return
    if (this.committed.has(tx)) throw new Error(`transaction ${tx} committed twice`)
    this.committed.set(tx, notes)
  }
}

/** Notes of one transaction, dropped as far as it rolls back. */
export class TransactionWitness {
  readonly #witness: Witness
  #notes: Note[] = []

  constructor(witness: Witness) {
    this.#witness = witness
  }

  note(table: TortureTable, key: string | null, fate: Fate, version: number | null = null): void {
    this.#notes.push({ table, key, fate, version, seq: this.#witness.nextSeq() })
  }

  /** A point that {@link rollBackTo} returns to. */
  mark(): number {
    return this.#notes.length
  }

  rollBackTo(mark: number): void {
    this.#notes = this.#notes.slice(0, mark)
  }

  commit(tx: string | null): void {
    if (tx === null) {
      if (this.#notes.length > 0) throw new Error('a transaction that wrote rows has no id')
      return
    }
    this.#witness.commit(tx, this.#notes)
  }
}

/** The truth about the order in which transactions wrote each key. */
export interface WriteOrder {
  /** Transaction ids in order, by `rowName`. */
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
