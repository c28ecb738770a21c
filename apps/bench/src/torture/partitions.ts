import type { Random } from './random.ts'

/** A part of `visits` that is written directly. */
export interface Partition {
  readonly table: string
  /** Days it holds, counted from the first of January 2024: from, and below which. */
  readonly from: number
  readonly below: number
}

/**
 * Partitions of `visits` that writers know of: those of the start, and what came since. One that comes takes days that nobody has written before: Postgres
 * looks for them in the default partition.
 */
export class Partitions {
  readonly #known: Partition[] = [
    { table: 'visits_early', from: 0, below: 10 },
    // Itself partitioned, so still not where the rows lie.
    { table: 'visits_late', from: 10, below: 20 },
    { table: 'visits_rest', from: 20, below: 30 },
  ]
  #nextDay = 60

  /** The next partition to make. Writers learn of it by {@link add}. */
  next(days: number): Partition {
    const from = this.#nextDay
    this.#nextDay += days
    return { table: `visits_${from}`, from, below: from + days }
  }

  add(partition: Partition): void {
    this.#known.push(partition)
  }

  pick(random: Random): Partition {
    return random.pick(this.#known)
  }
}

/** A day as text. */
export function dayText(day: number): string {
  return new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)
}
