import { sql, type Kysely, type Transaction } from 'kysely'
import { shipmentStatuses } from '../../shared/shipment-status.ts'
import { DemoError } from '../demo-error.ts'
import type { Database } from './database.ts'

const NAME = 'Tidemark demo: freight dispatch'
/**
 * The comment on each table. The layout's number goes up with every change of the tables and of the city list's version: a city's id is its
 * position in that list.
 */
const MARK = `${NAME}, layout 2`
const tables = ['cities', 'shipments', 'notes'] as const

/**
 * Creates the app's tables unless they are there.
 *
 * @param dataFolder where the database's data lies, when that is a folder of the demo's.
 * @throws {DemoError} when a table of that name exists and is not the demo's (a database given by `DATABASE_URL` may be somebody's), or is
 * that of a demo with another layout.
 */
export async function createTables(db: Kysely<Database>, dataFolder: string | null): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockSetup(trx)
    const present = await presentTables(trx)
    const foreign = present.find(({ mark }) => mark?.startsWith(NAME) !== true)
    if (foreign !== undefined) {
      throw new DemoError(
        `The database already has a table "${foreign.name}" that is not the demo's. Name an empty database in DATABASE_URL, or unset it.`,
      )
    }
    if (present.some(({ mark }) => mark !== MARK)) {
      const remedy =
        dataFolder === null
          ? `Drop its tables (drop table ${tables.toReversed().join(', ')})`
          : `Remove the folder ${dataFolder}`
      throw new DemoError(`The data is that of another version of the demo. ${remedy}, then start again.`)
    }
    if (present.length === tables.length) return
    for (const statement of statements) await statement.execute(trx)
    for (const table of tables) await sql`comment on table ${sql.ref(table)} is ${sql.lit(MARK)}`.execute(trx)
  })
}

/** Held to the end of the transaction, so that two demos that start on one database do not set it up twice. */
export async function lockSetup(trx: Transaction<Database>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${NAME}, 0))`.execute(trx)
}

async function presentTables(trx: Transaction<Database>): Promise<readonly { name: string; mark: string | null }[]> {
  const { rows } = await sql<{ name: string; mark: string | null }>`
    select relname as name, obj_description(oid, 'pg_class') as mark from pg_class
    where relname in (${sql.join(tables)}) and relnamespace = (select oid from pg_namespace where nspname = current_schema())
  `.execute(trx)
  return rows
}

const statements = [
  sql`
    create table cities (
      id integer primary key,
      name text not null,
      plain_name text not null default '',
      country text not null,
      population integer not null default 0,
      latitude double precision not null,
      longitude double precision not null
    )`,
  sql`create index cities_plain_name on cities (plain_name text_pattern_ops)`,
  sql`
    create table shipments (
      id bigint generated always as identity (start with 1001) primary key,
      company_id text not null,
      status text not null default 'booked' check (status in (${sql.join(shipmentStatuses.map((status) => sql.lit(status)))})),
      origin_id integer not null references cities,
      destination_id integer not null references cities,
      cargo text not null check (length(cargo) between 1 and 80),
      weight_kg integer not null check (weight_kg between 1 and 100000),
      created_at timestamptz not null default now(),
      unique (company_id, id),
      check (origin_id <> destination_id)
    )`,
  // The company is part of the reference: a note can never hang on another company's shipment.
  sql`
    create table notes (
      id bigint generated always as identity primary key,
      company_id text not null,
      shipment_id bigint not null,
      body text not null check (length(body) between 1 and 500),
      created_at timestamptz not null default now(),
      foreign key (company_id, shipment_id) references shipments (company_id, id) on update cascade on delete cascade
    )`,
  sql`create index notes_shipment on notes (company_id, shipment_id)`,
]
