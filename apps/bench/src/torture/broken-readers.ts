import type { Audience, Change, ChangesPage, Operation } from '@tidemark/core'
import { type RawBuilder, sql } from 'kysely'
import type { PageReader } from './readers.ts'
import { FEED_SCHEMA, type TortureTable, tortureTables } from './tables.ts'

/*
 * Readers that look right and are not, kept to prove that the torture and its schedules notice. Each differs from the sound one in a single idea:
 *
 * - `id-only`: remembers the largest id and reads what is above it. An id is handed out before its transaction commits.
 * - `no-xmax`: also reads what was in progress at the last read, but forgets that transactions from the snapshot's xmax on may already run and
 *   may already hold smaller ids.
 * - `no-part`: its cursor cannot stand inside an entry, so the keys behind the limit are lost with the cut.
 *
 * `none` has no such flaw: it takes late entries without a limit and never cuts an entry, which is why it is not how the library reads.
 */
export const flaws = ['id-only', 'no-xmax', 'no-part', 'none'] as const
export type Flaw = (typeof flaws)[number]

/** What such a reader keeps between two pages. */
export interface FlawedCursor {
  readonly hw: string
  readonly snap: string
}

interface Row {
  readonly snap: string
  readonly max: string
  readonly late: readonly Entry[] | null
  readonly fresh: readonly Entry[] | null
}

interface Entry {
  readonly id: string
  readonly xid: string
  readonly table: TortureTable
  readonly op: 'c' | 'u' | 'd' | 'i'
  readonly tenant: string | null
  readonly keys: readonly string[] | null
}

const log = sql.table(`${FEED_SCHEMA}.log`)
const tracked = sql.table(`${FEED_SCHEMA}.tracked`)
const operations: Readonly<Record<Entry['op'], Operation>> = { c: 'create', u: 'update', d: 'delete', i: 'invalidate' }

/** Entries at or below the high-water mark that the last read had not seen, as this flaw has it. */
function lateOnes(flaw: Flaw, snap: string): RawBuilder<unknown> {
  const inProgress = sql`l.xid in (select pg_snapshot_xip(${snap}::text::pg_snapshot))`
  switch (flaw) {
    case 'id-only':
      return sql`false`
    case 'no-xmax':
      return inProgress
    case 'no-part':
    case 'none':
      return sql`(${inProgress} or l.xid >= pg_snapshot_xmax(${snap}::text::pg_snapshot))`
  }
}

/** A reader with one flaw. */
export function brokenReader(flaw: Flaw): PageReader {
  return async ({ db }, audience, { since, limit, tables = tortureTables, transaction }) => {
    const cursor: FlawedCursor = since.startsWith('{') ? (JSON.parse(since) as FlawedCursor) : { hw: '0', snap: '1:1:' }
    const whose = audienceCondition(audience)
    const entries = (
      where: RawBuilder<unknown>,
      at: RawBuilder<unknown>,
    ): RawBuilder<unknown> => sql`(select json_agg(e) from (
        select l.id::text as id, l.xid::text as xid, t.name as "table", l.op::text as op, l.tenant, l.keys
        from ${log} l join ${tracked} t on t.number = l.tbl where ${whose} and t.name = any (${tables}::text[]) and ${where} order by l.id ${at}) e)`
    // One statement, hence one snapshot.
    const { rows } = await sql<Row>`select pg_current_snapshot()::text as snap,
        (select coalesce(max(l.id), 0)::text from ${log} l where ${whose}) as max,
        ${entries(sql`l.id <= ${cursor.hw}::bigint and ${lateOnes(flaw, cursor.snap)}`, sql``)} as late,
        ${entries(sql`l.id > ${cursor.hw}::bigint`, sql`limit ${limit + 1}`)} as fresh`.execute(
      (transaction ?? db).withoutPlugins(),
    )
    const row = rows[0]
    if (row === undefined) throw new Error('no row')
    if (since === 'now') return page([], { hw: row.max, snap: row.snap }, false)

    const changes = (row.late ?? []).flatMap(changesOf)
    let taken: Entry | null = null
    for (const entry of row.fresh ?? []) {
      if (changes.length >= limit) return page(changes, { hw: taken?.id ?? cursor.hw, snap: row.snap }, true)
      const mine = changesOf(entry)
      changes.push(...(flaw === 'no-part' ? mine.slice(0, limit - changes.length) : mine))
      taken = entry
    }
    return page(changes, { hw: BigInt(row.max) > BigInt(cursor.hw) ? row.max : cursor.hw, snap: row.snap }, false)
  }
}

function audienceCondition(audience: Audience): RawBuilder<unknown> {
  switch (audience.kind) {
    case 'tenant':
      return sql`(l.tenant = ${audience.tenant} or l.tenant is null)`
    case 'global':
      return sql`l.tenant is null`
    case 'all':
      return sql`true`
  }
}

function changesOf(entry: Entry): Change<TortureTable>[] {
  const { id, xid, table, op, tenant } = entry
  return (entry.keys ?? [null]).map((key, ordinal) => ({
    table,
    operation: operations[op],
    key,
    tenant,
    at: '',
    position: { entry: id, ordinal },
    tx: xid,
  }))
}

function page(
  changes: readonly Change<TortureTable>[],
  cursor: FlawedCursor,
  hasMore: boolean,
): ChangesPage<TortureTable> {
  return { changes, cursor: JSON.stringify(cursor), hasMore, upToDate: !hasMore }
}
