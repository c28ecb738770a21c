import { sql } from 'kysely'
import { tenants } from './tables.ts'
import type { Operation, Work } from './writer-context.ts'

/* Statements on `wallets`, partitioned by tenant: to another tenant is to another partition and another key. */

const IDS = 60
const partitionOf: Readonly<Record<string, string>> = {
  north: 'wallets_north',
  east: 'wallets_east',
  south: 'wallets_east',
}

interface Written {
  readonly id: string
  readonly tenant: string
  readonly version: number
}

const walletKey = (tenant: string, id: string): string => JSON.stringify([tenant, id])
const returning = sql`returning id, tenant_id as tenant, version`
const someIds = ({ random }: Work): number[] => random.ints(random.int(1, 8), 1, IDS)

function note({ notes }: Work, rows: readonly Written[]): void {
  for (const { id, tenant, version } of rows)
    notes.note('wallets', walletKey(tenant, id), version === 1 ? 'arrived' : 'wrote', version)
}

const insert: Operation = async (work, whose) => {
  const directly = work.random.chance(0.4)
  const table = directly ? (partitionOf[whose] ?? 'app.wallets "rest"') : 'wallets'
  const { rows } =
    await sql<Written>`insert into ${sql.table(table)} (id, tenant_id, kind) select id, ${whose}, nullif((id % 3)::text, '0') from unnest(${someIds(work)}::bigint[]) id
    on conflict do nothing ${returning}`.execute(work.trx)
  note(work, rows)
  work.did(directly ? 'partitionsDirect' : 'partitionsWritten', rows.length > 0 ? 1 : 0)
}

/** Also to another scope. */
const update: Operation = async (work, whose) => {
  const { rows } =
    await sql<Written>`update wallets set version = version + 1, note = ${String(work.random.next())}, kind = ${work.random.pick([null, '1', '2'])}
    where tenant_id = ${whose} and id = any (${someIds(work)}::bigint[]) ${returning}`.execute(work.trx)
  note(work, rows)
  work.did('partitionsWritten', rows.length > 0 ? 1 : 0)
}

const move: Operation = async (work, whose) => {
  const to = work.random.pick(tenants)
  if (to === whose) return
  const { rows } =
    await sql<Written>`update wallets set version = version + 1, tenant_id = ${to} where tenant_id = ${whose} and id = any (${someIds(work)}::bigint[]) ${returning}`.execute(
      work.trx,
    )
  for (const { id } of rows) work.notes.note('wallets', walletKey(whose, id), 'left')
  for (const { id, version } of rows) work.notes.note('wallets', walletKey(to, id), 'arrived', version)
  work.did('moves', rows.length > 0 ? 1 : 0)
  work.did('partitionMoves', rows.length)
}

const remove: Operation = async (work, whose) => {
  const { rows } =
    await sql<Written>`delete from wallets where tenant_id = ${whose} and id = any (${someIds(work)}::bigint[]) ${returning}`.execute(
      work.trx,
    )
  for (const { id, tenant } of rows) work.notes.note('wallets', walletKey(tenant, id), 'left')
  work.did('deletes')
}

export const walletOperations: readonly Operation[] = [insert, insert, update, update, move, move, remove]
