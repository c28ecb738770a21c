import { sql } from 'kysely'
import { idsOf, lockRows, noteDifference } from './image.ts'
import type { Operation, Work } from './writer-context.ts'

/* Statements on `letters`, whose triggers change and cancel rows by the last digit of their id, and count what was written in `digests` (`ddl.ts`). */

const IDS = 200
/** Added to ids that end in 5 when they are inserted. */
const RENAMED = 1_000_000

interface Written {
  readonly id: string
  readonly version: number
}

const someIds = ({ random }: Work): number[] => random.ints(random.int(2, 12), 1, IDS)
const digit = (id: string | number): number => Number(id) % 10

/** The AFTER STATEMENT trigger has counted these rows. */
function noteDigests({ notes, did }: Work, rows: readonly { readonly id: string }[]): void {
  const digests = new Set(rows.map(({ id }) => String(Number(id) % 97)))
  for (const id of digests) notes.note('digests', id, 'wrote')
  did('statementTriggers', digests.size)
}

const insert: Operation = async (work, whose) => {
  const ids = someIds(work)
  const { rows } =
    await sql<Written>`insert into letters (id, tenant_id) select id, ${whose} from unnest(${ids}::bigint[]) id
    on conflict do nothing returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('letters', id, 'arrived', version)
  noteDigests(work, rows)
  work.did('changedBefore', rows.filter(({ id }) => digit(id) === 4 || digit(id) === 5).length)
  work.did('cancelled', ids.filter((id) => digit(id) === 3).length)
}

/** Letters that are read are written once more by the AFTER STATEMENT trigger. */
const update: Operation = async (work) => {
  const wanted = someIds(work)
  const before = await lockRows(
    work,
    'letters',
    sql`id = any (${[...wanted, ...wanted.map((id) => id + RENAMED)]}::bigint[])`,
  )
  const note = `${work.random.pick(['read', 'sent'])} ${work.random.next()}`
  const { rows } =
    await sql<Written>`update letters set note = ${note} where id = any (${idsOf(before)}::bigint[]) returning id, version`.execute(
      work.trx,
    )
  await noteDifference(work, 'letters', before)
  noteDigests(work, rows)
  work.did('statementTriggers', note.startsWith('read') ? rows.length : 0)
  work.did('changedBefore', rows.filter(({ id }) => digit(id) === 7).length)
  work.did('cancelled', before.size - rows.length)
}

const remove: Operation = async (work) => {
  const before = await lockRows(work, 'letters', sql`id = any (${someIds(work)}::bigint[])`)
  await sql`delete from letters where id = any (${idsOf(before)}::bigint[])`.execute(work.trx)
  const { left, wrote } = await noteDifference(work, 'letters', before)
  work.did('deletes')
  work.did('changedBefore', wrote)
  work.did('cancelled', before.size - left)
}

export const letterOperations: readonly Operation[] = [insert, insert, update, update, remove]
