import type { Touched } from './sync-model.ts'

/** A counter per table that only grows: a table nobody has asked about yet needs no entry to be raised. */
export class Versions {
  #all = 0
  readonly #own = new Map<string, number>()

  of(table: string): number {
    return this.#all + (this.#own.get(table) ?? 0)
  }

  raise(touched: Touched): void {
    if (touched === 'all') this.#all += 1
    else for (const table of touched) this.#own.set(table, (this.#own.get(table) ?? 0) + 1)
  }
}
