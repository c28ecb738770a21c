import type pg from 'pg'
import { createTable, installFeed } from '../cli/bench-table.ts'
import { progress } from '../cli/output.ts'

/** The tables: alike but for their name and for capture. `control` is a second uncaptured one, to see how much two equal tables differ. */
export const tableNames = ['plain', 'tracked', 'control'] as const
export type BenchTable = (typeof tableNames)[number]

/** Creates and fills the three tables and installs capture on one. */
export async function createTables(admin: pg.Client, url: string, rows: number): Promise<void> {
  for (const name of tableNames) {
    await createTable(admin, name, rows)
    await admin.query(`vacuum analyze ${name}`)
  }
  await installFeed(url, { tracked: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] } })
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
