import { sql } from 'kysely'
import { SHIFT } from './image.ts'
import { impatiently, type Operation, type Work } from './writer-context.ts'

/*
 * Statements of a plain role on its own tables, on which row security is forced: it sees the rows of one tenant at a time, or all. `vault` is captured by
 * statement triggers, `safes` by row triggers.
 */

const IDS = 120

interface Written {
  readonly id: string
  readonly version: number
}

const someIds = ({ random }: Work): number[] => random.ints(random.int(1, 8), 1, IDS)
const pickTable = ({ random }: Work): 'vault' | 'safes' => random.pick(['vault', 'safes'])

async function actAs({ trx }: Work, tenant: string): Promise<void> {
  await sql`select set_config('app.tenant', ${tenant}, true)`.execute(trx)
}

const insert: Operation = async (work, whose) => {
  const table = pickTable(work)
  await actAs(work, whose)
  const { rows } =
    await sql<Written>`insert into ${sql.table(table)} (id, tenant_id) select id, ${whose} from unnest(${someIds(work)}::bigint[]) id
    on conflict do nothing returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note(table, id, 'arrived', version)
  work.did('rowSecurity')
}

/** "All": what it sees. */
const update: Operation = async (work, whose) => {
  const table = pickTable(work)
  await actAs(work, whose)
  const { rows } =
    await sql<Written>`update ${sql.table(table)} set version = version + 1, note = ${String(work.random.next())} where id % 5 = ${work.random.int(0, 4)}
    returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note(table, id, 'wrote', version)
  work.did('rowSecurity')
}

/** Rows that nobody sees afterwards but their new tenant. */
const move: Operation = async (work, whose) => {
  const table = pickTable(work)
  await actAs(work, '*')
  const { rows } =
    await sql<Written>`update ${sql.table(table)} set version = version + 1, tenant_id = ${whose} where id = any (${someIds(work)}::bigint[]) returning id, version`.execute(
      work.trx,
    )
  for (const { id, version } of rows) work.notes.note(table, id, 'wrote', version)
  work.did('moves')
  work.did('rowSecurity')
}

const rekey: Operation = async (work, whose) => {
  const table = pickTable(work)
  const id = work.random.int(1, IDS)
  const [from, to] = work.random.chance(0.5) ? [id, id + SHIFT] : [id + SHIFT, id]
  await actAs(work, whose)
  const { rows } =
    await sql<Written>`update ${sql.table(table)} set version = version + 1, id = ${to} where id = ${from}
    returning id, version`.execute(work.trx)
  for (const { version } of rows) {
    work.notes.note(table, String(from), 'left')
    work.notes.note(table, String(to), 'arrived', version)
  }
  work.did('keyChanges', rows.length)
  work.did('rowSecurity')
}

const remove: Operation = async (work, whose) => {
  const table = pickTable(work)
  await actAs(work, whose)
  const { rows } =
    await sql<Written>`delete from ${sql.table(table)} where id = any (${someIds(work)}::bigint[]) returning id, version`.execute(
      work.trx,
    )
  for (const { id } of rows) work.notes.note(table, id, 'left')
  work.did('deletes')
  work.did('rowSecurity')
}

/** Policies do not hold for TRUNCATE. */
const truncate: Operation = async (work) => {
  const table = pickTable(work)
  await impatiently(work, () => sql`truncate ${sql.table(table)}`.execute(work.trx))
  work.notes.note(table, null, 'left')
  work.did('truncates')
  work.did('rowSecurity')
}

export const securedOperations: readonly Operation[] = [insert, insert, update, move, rekey, remove]
export const securedTruncate: Operation = truncate
