import { sql, type Transaction } from 'kysely'
import type { CompanyId } from '../../shared/companies.ts'
import type { ShipmentStatus } from '../../shared/shipment-status.ts'
import type { Database } from './database.ts'

/** GeoNames ids of the cities that the sample shipments go between. */
const city = {
  rotterdam: 2747891,
  hamburg: 2911298,
  antwerp: 2803138,
  gdansk: 3099434,
  milan: 3173435,
  lyon: 2996944,
  gothenburg: 2711537,
  barcelona: 3128760,
  liverpool: 2644210,
  genoa: 3176219,
  krakow: 3094802,
  vienna: 2761369,
  zurich: 2657896,
  porto: 2735943,
  leHavre: 3003796,
  bilbao: 3128026,
  saoPaulo: 3448439,
  santos: 3449433,
  lima: 3936456,
  laPaz: 3911925,
  antofagasta: 3899539,
  santiago: 3871336,
  buenosAires: 3435910,
  montevideo: 3441575,
  asuncion: 3439389,
  arica: 3899361,
  guayaquil: 3657509,
  bogota: 3688689,
  rosario: 3838583,
  arequipa: 3947322,
  curitiba: 3464975,
  santaCruz: 3904906,
} as const

type City = keyof typeof city

/** The cities without which the sample shipments cannot be written. */
export const sampleCityIds: ReadonlySet<number> = new Set(Object.values(city))

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
    ['leHavre', 'lyon', 'Coffee, green, in sacks', 18_400, 'delivered', 'Signed for by the night shift.'],
    ['genoa', 'zurich', 'Espresso machines', 2_350, 'delivered'],
    ['porto', 'rotterdam', 'Cork, in bales', 7_900, 'cancelled', 'Customer moved the order to spring.'],
    [
      'gdansk',
      'krakow',
      'Steel coil',
      22_000,
      'in_transit',
      'Driver asks for the side gate.',
      'Side gate is confirmed.',
    ],
    ['barcelona', 'milan', 'Ceramic tiles', 19_750, 'in_transit'],
    ['gothenburg', 'hamburg', 'Paper reels', 21_300, 'in_transit', 'Keep dry: two reels were re-wrapped.'],
    ['liverpool', 'antwerp', 'Machine parts', 3_120, 'collected'],
    ['bilbao', 'vienna', 'Wind turbine bearings', 11_480, 'collected', 'Needs a tail lift at the far end.'],
    ['hamburg', 'zurich', 'Medical supplies', 860, 'booked', 'Between 2 and 8 °C.'],
    ['rotterdam', 'lyon', 'Tulip bulbs', 5_600, 'booked'],
  ],
  altiplano: [
    ['arica', 'laPaz', 'Wheat flour', 24_000, 'delivered'],
    ['santos', 'saoPaulo', 'Car batteries', 9_800, 'delivered', 'Two pallets were swapped at the gate.'],
    ['guayaquil', 'bogota', 'Bananas', 17_200, 'in_transit', 'Reefer set to 13.5 °C.'],
    ['antofagasta', 'santiago', 'Copper cathodes', 26_500, 'in_transit'],
    ['rosario', 'asuncion', 'Soybean meal', 23_900, 'in_transit', 'Waiting at the border since noon.', 'Across.'],
    ['lima', 'arequipa', 'Solar panels', 6_420, 'collected'],
    ['montevideo', 'curitiba', 'Wool, scoured', 8_150, 'collected', 'Paperwork travels with the driver.'],
    ['santaCruz', 'buenosAires', 'Quinoa', 12_700, 'booked'],
  ],
}

const HOURS_BETWEEN_SAMPLES = 7

/** Writes a few shipments of each company, with their notes. */
export async function writeSamples(trx: Transaction<Database>): Promise<void> {
  for (const [company, shipments] of Object.entries(samples)) {
    for (const [i, [from, to, cargo, weightKg, status, ...notes]] of shipments.entries()) {
      const createdAt = sql<Date>`now() - make_interval(hours => ${(shipments.length - i) * HOURS_BETWEEN_SAMPLES}::integer)`
      const { id } = await trx
        .insertInto('shipments')
        .values({
          company_id: company,
          status,
          origin_id: city[from],
          destination_id: city[to],
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
