import { sql } from 'kysely'
import { copyRows } from './copy-rows.ts'
import { BULKY, tenants } from './tables.ts'
import type { Work } from './writer-context.ts'

/* Statements on `items`: the table with tenants, scopes and moving keys. Each notes what it wrote once the statement has returned. */

/** Ids that all writers fight over. */
export const COMMON: { readonly first: number; readonly last: number } = { first: 1, last: 600 }
/** Ids that long transactions write first, and the others only with little patience. */
export const LONG: { readonly first: number; readonly last: number } = { first: 1001, last: 1040 }
/** Ids of bulk statements. */
export const BULK: { readonly first: number; readonly last: number } = { first: 10_000, last: 13_999 }
/** Added to the ids of bulk rows, and taken away again. */
const SHIFT = 100_000

/** Scope of a new row: few scopes among the bulk rows, so that one statement fills more than one entry of the same kind. */
const scopeOf = sql`case when id >= 10000 then 1 + (id % 8 = 0)::int else (id % 4)::int end`

interface Written {
  readonly id: string
  readonly version: number
}

export async function updateItems(work: Work, ids: readonly number[]): Promise<void> {
  const { rows } =
    await sql<Written>`update items set version = version + 1, note = ${String(work.random.next())} where id = any (${ids}::bigint[])
    returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('items', id, 'wrote', version)
}

export async function insertItems(work: Work, ids: readonly number[], tenant: string): Promise<void> {
  const { rows } =
    await sql<Written>`insert into items (id, tenant_id, project_id) select id, ${tenant}, ${scopeOf} from unnest(${ids}::bigint[]) id
    on conflict do nothing returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('items', id, 'arrived', version)
}

export async function upsertItems(work: Work, ids: readonly number[], tenant: string): Promise<void> {
  work.did('upserts')
  const { rows } =
    await sql<Written>`insert into items (id, tenant_id, project_id) select id, ${tenant}, ${scopeOf} from unnest(${ids}::bigint[]) id
    on conflict (id) do update set version = items.version + 1, tenant_id = excluded.tenant_id returning id, version`.execute(
      work.trx,
    )
  for (const { id, version } of rows) work.notes.note('items', id, version === 1 ? 'arrived' : 'wrote', version)
}

export async function mergeItems(work: Work, ids: readonly number[], tenant: string): Promise<void> {
  await sql`merge into items using unnest(${ids}::bigint[]) given(id) on items.id = given.id
    when matched then update set version = items.version + 1, project_id = null
    when not matched then insert (id, tenant_id) values (given.id, ${tenant})`.execute(work.trx)
  // What each row met is not told by every version: it was written either way, and we hold its lock.
  const { rows } = await sql<Written>`select id, version from items where id = any (${ids}::bigint[])`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('items', id, version === 1 ? 'arrived' : 'wrote', version)
  work.did('merges')
}

/** COPY, which gives up at the first key that is taken: new ones. */
export async function copyItems(work: Work, tenant: string): Promise<void> {
  const first = work.random.int(20_000_000, 2_000_000_000)
  const ids = Array.from({ length: work.random.int(1, 30) }, (_, i) => first + i)
  await copyRows(
    work,
    'items (id, tenant_id, project_id)',
    ids.map((id) => [id, tenant, id % 3 === 0 ? null : id % 3]),
  )
  for (const id of ids) work.notes.note('items', String(id), 'arrived', 1)
}

export async function deleteItems(work: Work, ids: readonly number[]): Promise<void> {
  work.did('deletes')
  const { rows } =
    await sql<Written>`delete from items where id = any (${ids}::bigint[]) returning id, version`.execute(work.trx)
  for (const { id } of rows) work.notes.note('items', id, 'left')
}

/** To other tenants, several rows in one statement, or only to another scope. */
export async function moveItems(work: Work, ids: readonly number[]): Promise<void> {
  work.did('moves')
  const { random, trx } = work
  const from = random.int(0, tenants.length - 1)
  const set = random.chance(0.3)
    ? sql`project_id = nullif((coalesce(project_id, 0) + 1) % 5, 0)`
    : sql`tenant_id = (${tenants}::text[])[1 + (id + ${from}) % ${tenants.length}]`
  const { rows } =
    await sql<Written>`update items set version = version + 1, ${set} where id = any (${ids}::bigint[]) returning id, version`.execute(
      trx,
    )
  for (const { id, version } of rows) work.notes.note('items', id, 'wrote', version)
}

/** One row gets another key, possibly a taken one. */
export async function changeKey(work: Work, from: number, to: number): Promise<void> {
  if (from === to) return
  work.did('keyChanges')
  const { rows } =
    await sql<Written>`update items set version = version + 1, id = ${to} where id = ${from} returning id, version`.execute(
      work.trx,
    )
  for (const { version } of rows) {
    work.notes.note('items', String(from), 'left')
    work.notes.note('items', String(to), 'arrived', version)
  }
}

/** Delete and insert in one statement: the rows live on under new keys, with a new tenant. */
export async function replaceItems(work: Work, ids: readonly number[], by: number, tenant: string): Promise<void> {
  work.did('deletes')
  const { rows } = await sql<{
    id: string
    kind: string
  }>`with gone as (delete from items where id = any (${ids}::bigint[]) returning id),
      come as (insert into items (id, tenant_id, project_id) select id + ${by}, ${tenant}, 1 from gone returning id)
    select id, 'left' as kind from gone union all select id, 'arrived' from come`.execute(work.trx)
  for (const { id, kind } of rows)
    work.notes.note('items', id, kind === 'left' ? 'left' : 'arrived', kind === 'left' ? null : 1)
}

/** One statement over thousands of rows. */
export async function bulkItems(work: Work): Promise<void> {
  const { random, trx, notes, stats } = work
  const whole = random.chance(0.3)
  const first = whole ? BULK.first : random.int(BULK.first, BULK.last - 100)
  const last = whole ? BULK.last : Math.min(BULK.last, first + random.int(100, 1500))
  if (!work.mayBulk()) return
  const ids = sql`id between ${first} and ${last}`
  const tenant = random.pick(BULKY)
  const kind = random.pick(['update', 'update', 'move', 'shift', 'shift back', 'delete', 'insert', 'insert'] as const)
  let count: number
  switch (kind) {
    case 'update':
    case 'move': {
      const set = kind === 'update' ? sql`note = ${String(random.next())}` : sql`tenant_id = ${tenant}`
      const { rows } =
        await sql<Written>`update items set version = version + 1, ${set} where ${ids} returning id, version`.execute(
          trx,
        )
      for (const { id, version } of rows) notes.note('items', id, 'wrote', version)
      count = rows.length
      break
    }
    case 'shift':
    case 'shift back': {
      const by = kind === 'shift' ? SHIFT : -SHIFT
      const range = kind === 'shift' ? ids : sql`id between ${first + SHIFT} and ${last + SHIFT}`
      const { rows } =
        await sql<Written>`update items set version = version + 1, id = id + ${by} where ${range} returning id, version`.execute(
          trx,
        )
      for (const { id, version } of rows) {
        notes.note('items', String(Number(id) - by), 'left')
        notes.note('items', id, 'arrived', version)
      }
      work.did('keyChanges', rows.length)
      count = rows.length
      break
    }
    case 'delete': {
      const { rows } =
        await sql<Written>`delete from items where ${ids} and id % 3 = ${random.int(0, 2)} returning id, version`.execute(
          trx,
        )
      for (const { id } of rows) notes.note('items', id, 'left')
      count = rows.length
      break
    }
    case 'insert': {
      const { rows } =
        await sql<Written>`insert into items (id, tenant_id, project_id) select id, ${tenant}, ${scopeOf} from generate_series(${sql.lit(first)}, ${sql.lit(last)}) id
        on conflict do nothing returning id, version`.execute(trx)
      for (const { id, version } of rows) notes.note('items', id, 'arrived', version)
      count = rows.length
    }
  }
  work.wroteBulk(count)
  work.did('bulkStatements')
  stats.largestStatement = Math.max(stats.largestStatement, count)
}
