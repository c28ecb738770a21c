/**
 * Random numbers from a seed (mulberry32). Each actor of a run has a stream of its own, so what it does depends on the seed and not on when
 * the others do it. The interleaving of a run is the machine's and is not repeated by a seed.
 */
export class Random {
  #state: number

  constructor(seed: number, stream: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.next() * values.length)]
    if (value === undefined) throw new Error('nothing to pick from')
    return value
  }

  /** Up to `count` different whole numbers, ascending. */
  ints(count: number, min: number, max: number): number[] {
    return [...new Set(Array.from({ length: count }, () => this.int(min, max)))].toSorted((a, b) => a - b)
  }
}
