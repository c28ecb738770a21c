import { sql, type Transaction } from 'kysely'
import type { CompanyId } from '../../shared/companies.ts'
import type { ShipmentStatus } from '../../shared/shipment-status.ts'
import type { Database } from './database.ts'

/** Name and country of a city; the largest of that name there is meant. Names as the city list writes them: the local ones, mostly. */
type City = `${string}, ${string}`

type Sample = readonly [
  from: City,
  to: City,
  cargo: string,
  weightKg: number,
  status: ShipmentStatus,
  ...notes: string[],
]

/** Oldest first. */
const samples: Readonly<Record<CompanyId, readonly Sample[]>> = {
  'harbour-dale': [
    ['Le Havre, FR', 'Lyon, FR', 'Coffee, green, in sacks', 18_400, 'delivered', 'Signed for by the night shift.'],
    ['Genova, IT', 'Zürich, CH', 'Espresso machines', 2_350, 'delivered'],
    ['Porto, PT', 'Rotterdam, NL', 'Cork, in bales', 7_900, 'cancelled', 'Customer moved the order to spring.'],
    [
      'Gdańsk, PL',
      'Kraków, PL',
      'Steel coil',
      22_000,
      'in_transit',
      'Driver asks for the side gate.',
      'Side gate is confirmed.',
    ],
    ['Barcelona, ES', 'Milano, IT', 'Ceramic tiles', 19_750, 'in_transit'],
    ['Göteborg, SE', 'Hamburg, DE', 'Paper reels', 21_300, 'in_transit', 'Keep dry: two reels were re-wrapped.'],
    ['Liverpool, GB', 'Antwerpen, BE', 'Machine parts', 3_120, 'collected'],
    ['Bilbao, ES', 'Vienna, AT', 'Wind turbine bearings', 11_480, 'collected', 'Needs a tail lift at the far end.'],
    ['Essen, DE', 'Zürich, CH', 'Medical supplies', 860, 'booked', 'Between 2 and 8 °C.'],
    ['Rotterdam, NL', 'Lyon, FR', 'Tulip bulbs', 5_600, 'booked'],
  ],
  altiplano: [
    ['Arica, CL', 'La Paz, BO', 'Wheat flour', 24_000, 'delivered'],
    ['Santos, BR', 'São Paulo, BR', 'Car batteries', 9_800, 'delivered', 'Two pallets were swapped at the gate.'],
    ['Guayaquil, EC', 'Bogotá, CO', 'Bananas', 17_200, 'in_transit', 'Reefer set to 13.5 °C.'],
    ['Antofagasta, CL', 'Santiago, CL', 'Copper cathodes', 26_500, 'in_transit'],
    [
      'Rosario, AR',
      'Asunción, PY',
      'Soybean meal',
      23_900,
      'in_transit',
      'Waiting at the border since noon.',
      'Across.',
    ],
    ['Lima, PE', 'Arequipa, PE', 'Solar panels', 6_420, 'collected'],
    ['Montevideo, UY', 'Curitiba, BR', 'Wool, scoured', 8_150, 'collected', 'Paperwork travels with the driver.'],
    ['Santa Cruz de la Sierra, BO', 'Buenos Aires, AR', 'Quinoa', 12_700, 'booked'],
  ],
}

/** The cities without which the sample shipments cannot be written. */
export const sampleCities: readonly City[] = [
  ...new Set(Object.values(samples).flatMap((shipments) => shipments.flatMap(([from, to]) => [from, to]))),
]

const HOURS_BETWEEN_SAMPLES = 7

/** Writes a few shipments of each company, with their notes. */
export async function writeSamples(trx: Transaction<Database>): Promise<void> {
  const idOf = await findSampleCities(trx)
  for (const [company, shipments] of Object.entries(samples)) {
    for (const [i, [from, to, cargo, weightKg, status, ...notes]] of shipments.entries()) {
      const createdAt = sql<Date>`now() - make_interval(hours => ${(shipments.length - i) * HOURS_BETWEEN_SAMPLES}::integer)`
      const { id } = await trx
        .insertInto('shipments')
        .values({
          company_id: company,
          status,
          origin_id: idOf(from),
          destination_id: idOf(to),
          cargo,
          weight_kg: weightKg,
          created_at: createdAt,
        })
        .returning(sql<string>`id::text`.as('id'))
        .executeTakeFirstOrThrow()
      if (notes.length === 0) continue
      await trx
        .insertInto('notes')
        .values(notes.map((body) => ({ company_id: company, shipment_id: id, body, created_at: createdAt })))
        .execute()
    }
  }
}

async function findSampleCities(trx: Transaction<Database>): Promise<(city: City) => number> {
  const label = sql<string>`name || ', ' || country`
  const found = await trx
    .selectFrom('cities')
    .select(['id', label.as('label')])
    .distinctOn(label)
    .where(label, 'in', sampleCities)
    .orderBy(label)
    .orderBy('population', 'desc')
    .orderBy('id')
    .execute()
  const ids = new Map(found.map((city) => [city.label, city.id]))
  return (city) => {
    const id = ids.get(city)
    if (id === undefined) throw new Error(`The city list has no "${city}", which a sample shipment needs.`)
    return id
  }
}
