import { type RawBuilder, sql } from 'kysely'
import { type Image, idsOf, lockRows, noteDifference } from './image.ts'
import type { TortureTable } from './tables.ts'
import type { Operation, Work } from './writer-context.ts'

/*
 * Statements on `stock`, whose AFTER ROW trigger mirrors each row to `ledger` and writes some rows of `stock` again (`ddl.ts`). All nested writes are to the
 * row itself or to one that the same statement wrote before: of these the feed promises the order.
 */

const IDS = 80
/** Amounts that make the trigger write `stock` again: the row itself, the row itself away, the row before it. */
const [BELOW_ZERO, NOTHING, SEVEN] = [-5, 0, 7]
const QUIET_AMOUNT = 50

const someIds = ({ random }: Work): number[] => random.ints(random.int(1, 6), 1, IDS)

/** Stock rows with their mirrors. */
async function lockStock(work: Work, where: RawBuilder<unknown>): Promise<{ stock: Image; ledger: Image }> {
  const stock = await lockRows(work, 'stock', where)
  return { stock, ledger: await lockRows(work, 'ledger', sql`id = any (${idsOf(stock)}::bigint[])`) }
}

async function noteStock(work: Work, { stock, ledger }: { stock: Image; ledger: Image }): Promise<void> {
  await noteDifference(work, 'stock', stock)
  const mirrored = await noteDifference(work, 'ledger', ledger)
  work.did('nestedElsewhere', mirrored.wrote + mirrored.left)
}

/** New rows among old ones, in order of their ids. */
const insert: Operation = async (work, whose) => {
  const { random } = work
  const first = random.int(1, IDS - 5)
  const known = await lockStock(work, sql`id between ${first} and ${first + 5}`)
  const ids = [1, 2, 3, 4, 5].map((i) => first + i).filter((id) => !known.stock.has(String(id)))
  const amounts = ids.map((id) => {
    // A row before it that is neither new nor locked might be there or not.
    const neighbour = id > first + 1 || known.stock.has(String(first))
    return random.pick([BELOW_ZERO, NOTHING, QUIET_AMOUNT, neighbour ? SEVEN : QUIET_AMOUNT])
  })
  await sql`insert into stock (id, tenant_id, amount)
    select id, ${whose}, amount from unnest(${ids}::bigint[], ${amounts}::int[]) given(id, amount) order by id`.execute(
    work.trx,
  )
  await noteNew(work, 'stock', ids)
  await noteNew(work, 'ledger', ids)
  await noteStock(work, known)
  work.did('nested', amounts.filter((amount) => amount !== QUIET_AMOUNT).length)
  work.did('nestedElsewhere', ids.length)
}

/** New rows with all that was done to them since: written on, or deleted at once. */
async function noteNew(work: Work, table: TortureTable, ids: readonly number[]): Promise<void> {
  const { rows } = await sql<{
    id: string
    version: number
  }>`select id, version from ${sql.table(table)} where id = any (${ids}::bigint[])`.execute(work.trx)
  const now = new Map(rows.map(({ id, version }) => [id, version]))
  for (const id of ids.map(String)) {
    const version = now.get(id)
    work.notes.note(table, id, 'arrived', 1)
    if (version === undefined) work.notes.note(table, id, 'left')
    else for (let v = 2; v <= version; v++) work.notes.note(table, id, 'wrote', v)
  }
}

const update: Operation = async (work, whose) => {
  const known = await lockStock(work, sql`id = any (${someIds(work)}::bigint[])`)
  const amount = work.random.pick([BELOW_ZERO, QUIET_AMOUNT, SEVEN])
  await sql`update stock set version = version + 1, note = ${String(work.random.next())}, amount = ${amount}, tenant_id = ${whose}
    where id = any (${idsOf(known.stock)}::bigint[])`.execute(work.trx)
  await noteStock(work, known)
  work.did('nested', amount === BELOW_ZERO ? known.stock.size : 0)
}

/** INSERT that turns into UPDATE for each row. */
const upsert: Operation = async (work, whose) => {
  const known = await lockStock(work, sql`id = any (${someIds(work)}::bigint[])`)
  const amount = work.random.pick([BELOW_ZERO, QUIET_AMOUNT])
  await sql`insert into stock (id, tenant_id, amount) select id, ${whose}, ${amount} from unnest(${idsOf(known.stock)}::bigint[]) id
    on conflict (id) do update set version = stock.version + 1, amount = excluded.amount, tenant_id = excluded.tenant_id`.execute(
    work.trx,
  )
  await noteStock(work, known)
  work.did('upserts')
  work.did('nested', amount === BELOW_ZERO ? known.stock.size : 0)
}

const remove: Operation = async (work) => {
  const known = await lockStock(work, sql`id = any (${someIds(work)}::bigint[])`)
  await sql`delete from stock where id = any (${idsOf(known.stock)}::bigint[])`.execute(work.trx)
  await noteStock(work, known)
  work.did('deletes')
}

export const stockOperations: readonly Operation[] = [insert, insert, update, update, upsert, remove]
