import { createFeed } from '@tidemark/core'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { openPool } from '../cli/open-pool.ts'
import { progress } from '../cli/output.ts'
import { rowOf } from './row-layout.ts'

/** The tables: alike but for their name and for capture. `control` is a second uncaptured one, to see how much two equal tables differ. */
export const tableNames = ['plain', 'tracked', 'control'] as const
export type BenchTable = (typeof tableNames)[number]

interface Row {
  readonly id: number
  readonly tenant_id: number
  readonly project_id: number
  readonly title: string
  readonly body: string
}

interface Schema {
  readonly tracked: Row
}

/** Creates and fills the three tables and installs capture on one. Autovacuum is off on all: the run vacuums itself, at the same moments. */
export async function createTables(admin: pg.Client, url: string, rows: number): Promise<void> {
  for (const name of tableNames) {
    await admin.query(
      `create table ${name} (id bigint primary key, tenant_id integer not null, project_id integer not null, title text not null, body text not null)
       with (fillfactor = 100, autovacuum_enabled = off)`,
    )
    await admin.query(`insert into ${name} select ${rowOf('g')} from generate_series(1, ${rows}) g`)
    await admin.query(`create index on ${name} (tenant_id, project_id)`)
    await admin.query(`vacuum analyze ${name}`)
  }
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: openPool({ connectionString: url, max: 2 }) }),
  })
  try {
    const feed = createFeed({ db, tables: { tracked: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] } } })
    await feed.migrate()
    const findings = await feed.verify()
    if (findings.length > 0) throw new Error(`capture is not installed: ${JSON.stringify(findings)}`)
  } finally {
    await db.destroy()
  }
}

/** Proof that the tracked table's writes were really captured, and the others' were not. */
export async function requireCapture(admin: pg.Client, expected: number): Promise<void> {
  const { rows } = await admin.query<{ keys: string }>(
    `select coalesce(sum(n), 0)::text as keys from tidemark.log where keys is not null`,
  )
  const keys = Number(rows[0]?.keys)
  if (keys !== expected)
    throw new Error(`the log holds ${keys} keys, but ${expected} rows of the tracked table were written`)
  progress(`captured, as it should be: ${keys} keys`)
}

/** Brings the tables to the same tidy state, and the checkpoint out of the way of what is measured next. */
export async function tidy(admin: pg.Client): Promise<void> {
  for (const name of [...tableNames, 'tidemark.log']) await admin.query(`vacuum analyze ${name}`)
  await admin.query('checkpoint')
}

/** Writes the tables anew, as densely packed as on the first day. */
export async function rebuild(admin: pg.Client): Promise<void> {
  for (const name of tableNames) {
    await admin.query(`vacuum full ${name}`)
    await admin.query(`vacuum analyze ${name}`)
  }
  await admin.query('checkpoint')
}
