import { createFeed } from '@tidemark/core'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { openPool } from './open-pool.ts'

/** Tenants, and scope values of each: rows are dealt out evenly by id. */
export const TENANTS = 20
export const SCOPES = 5

/** Fills a row up to about 200 bytes with its header. */
export const FILLER: string = 'x'.repeat(120)

/** Expressions for the columns of row `id`, about 200 bytes with the header. */
export const rowOf = (id: string): string =>
  `${id}, (${id} % ${TENANTS})::int, ((${id} / ${TENANTS}) % ${SCOPES})::int, 'first title of row ' || ${id}, '${FILLER}'`

/** A row of the tables that are written to. */
export interface BenchRow {
  readonly id: number
  readonly tenant_id: number
  readonly project_id: number
  readonly title: string
  readonly body: string
}

/** The columns in SQL, before the primary key is named. */
export const COLUMNS =
  'id bigint not null, tenant_id integer not null, project_id integer not null, title text not null, body text not null'

/** Creates and fills a table, densely packed, with its indexes. Autovacuum is off: the runs vacuum themselves, at the same moments. */
export async function createTable(admin: pg.Client, name: string, rows: number): Promise<void> {
  await admin.query(
    `create table ${name} (${COLUMNS}, primary key (id)) with (fillfactor = 100, autovacuum_enabled = off)`,
  )
  await admin.query(`insert into ${name} select ${rowOf('g')} from generate_series(1, ${rows}) g`)
  await admin.query(`create index on ${name} (tenant_id, project_id)`)
}

/** How such a table is declared. */
export interface BenchDeclaration {
  readonly tenant: 'tenant_id'
  readonly key: 'id' | readonly ['id', 'tenant_id']
  readonly scopes: readonly ['project_id']
  readonly capture?: 'row'
}

/** Installs capture, and proves that it stands. */
export async function installFeed(url: string, tables: Readonly<Record<string, BenchDeclaration>>): Promise<void> {
  const db = new Kysely<Record<string, BenchRow>>({
    dialect: new PostgresDialect({ pool: openPool({ connectionString: url, max: 2 }) }),
  })
  try {
    const feed = createFeed({ db, tables })
    await feed.migrate()
    const findings = await feed.verify()
    if (findings.length > 0) throw new Error(`capture is not installed: ${JSON.stringify(findings)}`)
  } finally {
    await db.destroy()
  }
}
