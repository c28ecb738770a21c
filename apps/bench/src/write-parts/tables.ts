import type pg from 'pg'
import { createTable, installFeed } from '../cli/bench-table.ts'
import { readProduction } from './production.ts'
import { BY_ROW, fillLog, logCopies, PRODUCTION, type Variant, variantsOf } from './variants.ts'

/** Creates one table for each variant, alike but for capture, and returns the variants. Vacuum is the run's own business. */
export async function createVariants(
  admin: pg.Client,
  url: string,
  options: { readonly rows: number; readonly logEntries: number },
): Promise<readonly Variant[]> {
  for (const name of [PRODUCTION, BY_ROW]) await createTable(admin, name, options.rows)
  const declared = { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] } as const
  await installFeed(url, { [PRODUCTION]: declared, [BY_ROW]: { ...declared, capture: 'row' } })
  const production = await readProduction(admin, PRODUCTION)
  await admin.query(fillLog('tidemark.log', options.logEntries))
  for (const statement of logCopies(production, options.logEntries)) await admin.query(statement)
  const variants = variantsOf(production)
  for (const { name, install } of variants) {
    if (name !== PRODUCTION && name !== BY_ROW) await createTable(admin, name, options.rows)
    for (const statement of install(name)) await admin.query(statement)
  }
  await tidy(admin, variants)
  return variants
}

/** Brings all tables to the same state. */
export async function tidy(admin: pg.Client, variants: readonly Variant[]): Promise<void> {
  const logs = variants.flatMap(({ log }) => (log === null ? [] : [log]))
  for (const name of new Set([...variants.map((variant) => variant.name), ...logs]))
    await admin.query(`vacuum analyze ${name}`)
  await admin.query('checkpoint')
}

/** Writes all tables anew, as densely packed as on the first day. */
export async function rebuild(admin: pg.Client, variants: readonly Variant[]): Promise<void> {
  for (const { name } of variants) await admin.query(`vacuum full ${name}`)
  await tidy(admin, variants)
}

/** Throws unless each log holds a key for each row that was written to the variants which append to it. */
export async function requireEntries(
  admin: pg.Client,
  variants: readonly Variant[],
  written: ReadonlyMap<string, number>,
): Promise<void> {
  const expected = new Map<string, number>()
  for (const { name, log } of variants)
    if (log !== null) expected.set(log, (expected.get(log) ?? 0) + (written.get(name) ?? 0))
  for (const [log, keys] of expected) {
    const { rows } = await admin.query<{ keys: string }>(
      `select coalesce(sum(n), 0)::text as keys from ${log} where keys is not null and tbl <> 0`,
    )
    if (Number(rows[0]?.keys) !== keys)
      throw new Error(`${log} holds ${rows[0]?.keys} keys, but ${keys} rows were written`)
  }
}
