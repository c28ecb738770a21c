import { afterAll, beforeAll, describe } from 'vitest'
import type { Bed } from './bed.ts'
import { openPglite } from './pglite-bed.ts'
import { openPostgres, type PostgresBed } from './postgres-bed.ts'

/** Tests of one behaviour, the same for every back end. They begin with {@link Bed.reset}. `bed` may be called inside tests and hooks only. */
export type Contract<B extends Bed = Bed> = (bed: () => B) => void

/** Runs contracts on the run's Postgres server, one after the other in one database. */
export function onPostgres(contracts: readonly Contract<PostgresBed>[], feedSchema?: string): void {
  runOn(`postgres${suffix(feedSchema)}`, () => openPostgres(feedSchema), contracts)
}

/** Runs contracts on one PGlite. Keep such files few: each pays PGlite's start. */
export function onPglite(contracts: readonly Contract[], feedSchema?: string): void {
  runOn(`pglite${suffix(feedSchema)}`, () => openPglite(feedSchema), contracts)
}

function suffix(feedSchema: string | undefined): string {
  return feedSchema === undefined ? '' : ` with schema ${feedSchema}`
}

function runOn<B extends Bed>(name: string, open: () => Promise<B>, contracts: readonly Contract<B>[]): void {
  describe(name, () => {
    let opened: B | undefined
    const bed = (): B => {
      if (opened === undefined) throw new Error('the database is opened before the first test, not earlier')
      return opened
    }
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())
    for (const contract of contracts) contract(bed)
  })
}
