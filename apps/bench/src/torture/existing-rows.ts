import type { Audience } from '@tidemark/core'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { type TortureDatabase, type TortureTable, tortureTables } from './tables.ts'

/* The tables read directly, with canonical keys made by SQL of the run's own: what replicas are compared with. */

export type Executor = Kysely<TortureDatabase> | Transaction<TortureDatabase>

/** A row as it is in its table. */
export interface ExistingRow {
  /** `null` for a global row. */
  readonly tenant: string | null
  /** What it holds besides, as one text. */
  readonly content: string
}

/** Rows by key, for each table. */
export type RowSet = ReadonlyMap<TortureTable, ReadonlyMap<string, ExistingRow>>

interface TableSql {
  readonly key: RawBuilder<unknown>
  /** Of the key as text; the text of some types is finished here rather than in SQL. */
  readonly finish: (key: string) => string
  readonly tenant: RawBuilder<unknown>
  readonly content: RawBuilder<unknown>
  /** Whether a row's key is one of those given. */
  readonly among: (keys: readonly string[]) => RawBuilder<unknown>
}

const byId: TableSql = {
  key: sql`id::text`,
  finish: (key) => key,
  tenant: sql`tenant_id`,
  content: sql`concat_ws(' ', version, note)`,
  among: (keys) => sql`id = any (${keys}::bigint[])`,
}

/** A key of several columns: its parts as text, and as values again. */
function composite(parts: RawBuilder<unknown>, columns: RawBuilder<unknown>, values: RawBuilder<unknown>): TableSql {
  return {
    ...byId,
    key: sql`json_build_array(${parts})::text`,
    // JSON.stringify puts no blanks between array elements, as the canonical text does.
    finish: (key) => JSON.stringify(JSON.parse(key)),
    among: (keys) =>
      sql`(${columns}) in (select ${values} from unnest(${keys}::text[]) t, lateral (select t::json as k) k)`,
  }
}

const instant = sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`
const readings = composite(
  sql`${instant}, encode(code, 'hex'), trim_scale(amount)::text`,
  sql`at, code, amount`,
  sql`(k ->> 0 || 'Z')::timestamptz, decode(k ->> 1, 'hex'), (k ->> 2)::numeric`,
)

const tables: Readonly<Partial<Record<TortureTable, TableSql>>> = {
  items: { ...byId, content: sql`concat_ws(' ', version, note, project_id)` },
  'app.Order Lines': composite(
    sql`to_char(day, 'YYYY-MM-DD'), "Label ""x"""`,
    sql`day, "Label ""x"""`,
    sql`(k ->> 0)::date, k ->> 1`,
  ),
  slots: { ...byId, key: sql`pos::text`, among: (keys) => sql`pos = any (${keys}::integer[])` },
  rates: {
    ...byId,
    key: sql`code`,
    tenant: sql`null`,
    content: sql`concat_ws(' ', version, value)`,
    among: (keys) => sql`code = any (${keys}::text[])`,
  },
  // Fractions of a second without trailing zeros.
  readings: { ...readings, finish: (key) => readings.finish(key).replace(/\.?0+"/, '"') },
  visits: composite(sql`to_char(day, 'YYYY-MM-DD'), id::text`, sql`day, id`, sql`(k ->> 0)::date, (k ->> 1)::bigint`),
  wallets: {
    ...composite(sql`tenant_id, id::text`, sql`tenant_id, id`, sql`k ->> 0, (k ->> 1)::bigint`),
    content: sql`concat_ws(' ', version, note, kind)`,
  },
}

/** The rows that exist for an audience now. */
export async function existingRows(
  db: Executor,
  audience: Audience,
  wanted: readonly TortureTable[] = tortureTables,
): Promise<RowSet> {
  const found = new Map<TortureTable, ReadonlyMap<string, ExistingRow>>()
  for (const table of wanted) found.set(table, await selectRows(db, audience, table, sql`true`))
  return found
}

/** Those of the named rows that exist for an audience now. */
export async function rowsByKey(
  db: Executor,
  audience: Audience,
  table: TortureTable,
  keys: readonly string[],
): Promise<ReadonlyMap<string, ExistingRow>> {
  return await selectRows(db, audience, table, (tables[table] ?? byId).among(keys))
}

async function selectRows(
  db: Executor,
  audience: Audience,
  table: TortureTable,
  where: RawBuilder<unknown>,
): Promise<ReadonlyMap<string, ExistingRow>> {
  const { key, finish, tenant, content } = tables[table] ?? byId
  const { rows } = await sql<ExistingRow & { readonly key: string }>`
    select ${key} as key, ${tenant} as tenant, ${content} as content from ${sql.table(table)} where ${where}`.execute(
    db.withoutPlugins(),
  )
  const mine = rows.filter((row) => belongs(audience, row.tenant))
  return new Map(mine.map((row) => [finish(row.key), { tenant: row.tenant, content: row.content }]))
}

/** Global rows belong to everybody, and to those who ask for nothing else. */
function belongs(audience: Audience, tenant: string | null): boolean {
  return tenant === null || audience.kind === 'all' || (audience.kind === 'tenant' && audience.tenant === tenant)
}
