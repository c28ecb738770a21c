import { type RawBuilder, sql } from 'kysely'
import type { TortureTable } from './tables.ts'
import type { Work } from './writer-context.ts'

/*
 * Statements of which RETURNING does not tell everything: foreign keys and triggers write further rows. The rows they can reach are locked and looked at
 * before, and looked at again afterwards: what has moved in between was written by the statement. Only for tables whose key is `id`.
 */

interface Seen {
  readonly version: number
  /** Where the row lies: each update puts it elsewhere. */
  readonly place: string
}

/** Rows of one table by id. */
export type Image = ReadonlyMap<string, Seen>

/** What became of the rows of an image. */
export interface Difference {
  readonly left: number
  readonly arrived: number
  readonly wrote: number
}

async function look(
  { trx }: Work,
  table: TortureTable,
  where: RawBuilder<unknown>,
  lock: RawBuilder<unknown>,
): Promise<Map<string, Seen>> {
  const { rows } = await sql<
    Seen & { readonly id: string }
  >`select id, version, concat(tableoid, ctid) as place from ${sql.table(table)}
    where ${where} order by id ${lock}`.execute(trx)
  return new Map(rows.map(({ id, version, place }) => [id, { version, place }]))
}

/** Locks the rows of a table that a statement may reach, against writers and against new references to them. */
export async function lockRows(work: Work, table: TortureTable, where: RawBuilder<unknown>): Promise<Image> {
  return await look(work, table, where, sql`for update`)
}

/** Notes what became of locked rows, and of rows that may have come under other ids. */
export async function noteDifference(
  work: Work,
  table: TortureTable,
  before: Image,
  newIds: readonly string[] = [],
): Promise<Difference> {
  const { notes } = work
  const after = await look(work, table, sql`id = any (${[...before.keys(), ...newIds]}::bigint[])`, sql``)
  let [left, arrived, wrote] = [0, 0, 0]
  for (const id of before.keys()) {
    if (after.has(id)) continue
    notes.note(table, id, 'left')
    left += 1
  }
  for (const [id, { version, place }] of after) {
    const was = before.get(id)
    if (was?.place === place) continue
    if (was === undefined) {
      notes.note(table, id, 'arrived', version)
      arrived += 1
    } else {
      // Two cascades in one statement write a row twice.
      for (let v = was.version + 1; v <= version; v++) notes.note(table, id, 'wrote', v)
      wrote += 1
    }
  }
  return { left, arrived, wrote }
}

/** Ids of an image. */
export function idsOf(image: Image): string[] {
  return [...image.keys()]
}

/** Added to an id by a change of key, and taken away again. */
export const SHIFT = 1000

export function shiftedId(id: string): string {
  return String(Number(id) > SHIFT ? Number(id) - SHIFT : Number(id) + SHIFT)
}

/** Some of the ids that a column holds. */
export async function pickIds(
  { trx, random }: Work,
  table: TortureTable,
  column: string,
  count: number,
): Promise<string[]> {
  const { rows } = await sql<{
    id: string
  }>`select id from (select distinct ${sql.ref(column)} as id from ${sql.table(table)} where ${sql.ref(column)} is not null) x
    order by (id * ${random.int(1, 96)}) % 97, id limit ${count}`.execute(trx)
  return rows.map(({ id }) => id)
}
