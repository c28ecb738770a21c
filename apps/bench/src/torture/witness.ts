import type { Kind } from './kinds.ts'
import type { TortureTable } from './tables.ts'

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
  /** Canonical text; `null` for the whole table, or all of a partition. */
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
  /** How often `migrate()` looked after each table. */
  readonly migrated: Map<string, number> = new Map()
  #seq = 0

  nextSeq(): number {
    this.#seq += 1
    return this.#seq
  }

  /** What a call of `migrate()` reported. */
  sawMigrate(installed: readonly string[]): void {
    for (const table of installed) this.migrated.set(table, (this.migrated.get(table) ?? 0) + 1)
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

/** A point of a transaction that can be returned to. */
export interface Mark {
  readonly notes: number
  readonly deeds: number
}

/** Notes of one transaction, and what kinds of things it did, dropped as far as it rolls back. */
export class TransactionWitness {
  readonly #witness: Witness
  readonly #notes: Note[] = []
  readonly #deeds: { readonly kind: Kind; readonly times: number }[] = []

  constructor(witness: Witness) {
    this.#witness = witness
  }

  note(table: TortureTable, key: string | null, fate: Fate, version: number | null = null): void {
    this.#notes.push({ table, key, fate, version, seq: this.#witness.nextSeq() })
  }

  did(kind: Kind, times: number): void {
    this.#deeds.push({ kind, times })
  }

  mark(): Mark {
    return { notes: this.#notes.length, deeds: this.#deeds.length }
  }

  rollBackTo({ notes, deeds }: Mark): void {
    this.#notes.length = notes
    this.#deeds.length = deeds
  }

  /** Hands the notes over and returns what was done. */
  commit(tx: string | null): readonly { readonly kind: Kind; readonly times: number }[] {
    if (tx !== null) this.#witness.commit(tx, this.#notes)
    else if (this.#notes.length > 0) throw new Error('a transaction that wrote rows has no id')
    return this.#deeds
  }
}
