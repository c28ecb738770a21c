import { afterAll, beforeAll, describe } from 'vitest'
import type { Bed, BedOptions } from './bed.ts'
import { openPglite } from './pglite-bed.ts'
import { openPostgres, type PostgresBed } from './postgres-bed.ts'

/** Tests of one behaviour, the same for every back end. They begin with {@link Bed.reset}. `bed` may be called inside tests and hooks only. */
export type Contract<B extends Bed = Bed> = (bed: () => B) => void

/** Runs contracts on the run's Postgres server, one after the other in one database. */
export function onPostgres(contracts: readonly Contract<PostgresBed>[], options: BedOptions = {}): void {
  runOn(`postgres${suffix(options)}`, () => openPostgres(options), contracts)
}

/** Runs contracts on one PGlite. Keep such files few: each pays PGlite's start. */
export function onPglite(contracts: readonly Contract[], options: BedOptions = {}): void {
  runOn(`pglite${suffix(options)}`, () => openPglite(options), contracts)
}

function suffix({ feedSchema, level = 'statement' }: BedOptions): string {
  return `${feedSchema === undefined ? '' : ` with schema ${feedSchema}`}${level === 'statement' ? '' : ' at row level'}`
}

function runOn<B extends Bed>(name: string, open: () => Promise<B>, contracts: readonly Contract<B>[]): void {
  describe(name, () => {
    const bed = bedFrom(open)
    for (const contract of contracts) contract(bed)
  })
}

/** Opens a back end before the tests of a file or block, and closes it behind them. What it returns may be called inside tests and hooks only. */
export function bedFrom<B extends Bed>(open: () => Promise<B>): () => B {
  let opened: B | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.close())
  return () => {
    if (opened === undefined) throw new Error('the database is opened before the first test, not earlier')
    return opened
  }
}
