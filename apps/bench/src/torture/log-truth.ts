import type { Audience } from '@tidemark/core'
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from './existing-rows.ts'
import { FEED_SCHEMA, type TortureTable } from './tables.ts'

/* The log read directly, in SQL of its own: what the readers' deliveries are compared with. */

/** An entry of the log. */
export interface LoggedEntry {
  readonly id: number
  readonly tx: string
  readonly table: TortureTable
  readonly op: 'create' | 'update' | 'delete' | 'invalidate'
  readonly tenant: string | null
  readonly explicit: boolean
  readonly keys: readonly string[] | null
}

const log = sql.table(`${FEED_SCHEMA}.log`)
const tracked = sql.table(`${FEED_SCHEMA}.tracked`)
const words = { c: 'create', u: 'update', d: 'delete', i: 'invalidate' } as const

/** The whole log, by id. */
export async function readLog(db: Executor): Promise<ReadonlyMap<number, LoggedEntry>> {
  const { rows } = await sql<Omit<LoggedEntry, 'op' | 'id'> & { id: string; op: keyof typeof words }>`
    select l.id, l.xid::text as tx, t.name as "table", l.op, l.tenant, l.explicit, l.keys
    from ${log} l join ${tracked} t on t.number = l.tbl order by l.id`.execute(db.withoutPlugins())
  return new Map(rows.map((row) => [Number(row.id), { ...row, id: Number(row.id), op: words[row.op] }]))
}

function audienceCondition(audience: Audience): RawBuilder<unknown> {
  if (audience.kind === 'all') return sql`true`
  if (audience.kind === 'global') return sql`l.tenant is null`
  return sql`coalesce(l.tenant, ${audience.tenant}) = ${audience.tenant}`
}

function entriesOf(audience: Audience, tables: readonly TortureTable[], base: string | null): RawBuilder<unknown> {
  const after = base === null ? sql`true` : sql`not pg_visible_in_snapshot(l.xid, ${base}::text::pg_snapshot)`
  return sql`${log} l join ${tracked} t on t.number = l.tbl where ${audienceCondition(audience)} and t.name = any (${tables}::text[]) and ${after}`
}

/** Ids of the entries that an audience must be given: all, or all that `base` did not see. */
export async function expectedEntries(
  db: Executor,
  audience: Audience,
  tables: readonly TortureTable[],
  base: string | null,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: string }>`select l.id from ${entriesOf(audience, tables, base)}`.execute(
    db.withoutPlugins(),
  )
  return new Set(rows.map(({ id }) => Number(id)))
}

/** How many changes the transaction's snapshot shows an audience, less what `base` saw. */
export async function countVisible(
  trx: Executor,
  audience: Audience,
  tables: readonly TortureTable[],
  base: string | null,
): Promise<number> {
  const { rows } = await sql<{
    changes: string
  }>`select coalesce(sum(coalesce(cardinality(l.keys), 1)), 0)::text as changes
    from ${entriesOf(audience, tables, base)}`.execute(trx.withoutPlugins())
  return Number(rows[0]?.changes)
}
