import { sql, type Kysely } from 'kysely'
import type { DemoFeed } from '../feed.ts'
import { createTables, lockSetup } from './create-tables.ts'
import type { Database } from './database.ts'
import { writeSamples } from './sample-data.ts'
import { type CityCount, writeCities } from './write-cities.ts'

/** What the preparation did. */
export interface Preparation {
  /** Cities written now; `null` when they were there already. */
  readonly citiesWritten: number | null
  /** How long writing them took. */
  readonly citiesMs: number
}

/**
 * Brings a database to what the demo needs: tables, feed, and, only the first time, cities and samples. All of these are
 * written in one transaction, so a start that is cut short leaves nothing half done.
 *
 * The feed is installed before the first row is written: all 138,398 cities go through it.
 */
export async function prepareDatabase(
  db: Kysely<Database>,
  feed: DemoFeed,
  options: { readonly cities: CityCount; readonly dataFolder: string | null; readonly signal: AbortSignal },
): Promise<Preparation> {
  const { cities, dataFolder, signal } = options
  await createTables(db, dataFolder)
  signal.throwIfAborted()
  await feed.migrate()
  signal.throwIfAborted()
  const preparation = await db.transaction().execute(async (trx) => {
    await lockSetup(trx)
    const filled = await trx.selectFrom('cities').select('id').limit(1).executeTakeFirst()
    if (filled !== undefined) return { citiesWritten: null, citiesMs: 0 }
    const began = performance.now()
    const citiesWritten = await writeCities(trx, cities, signal)
    const citiesMs = performance.now() - began
    await writeSamples(trx)
    return { citiesWritten, citiesMs }
  })
  // Without it the planner takes the new tables for empty.
  if (preparation.citiesWritten !== null) await sql`analyze cities, shipments, notes`.execute(db)
  return preparation
}
