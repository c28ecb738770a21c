import { type RawBuilder, sql } from 'kysely'
import { copyRows } from './copy-rows.ts'
import { dayText, type Partition } from './partitions.ts'
import { impatiently, type Operation, type Work } from './writer-context.ts'

/* Statements on `visits`, partitioned by day: through the parent, or through a partition that holds the day. */

const IDS = 40

interface Written {
  readonly id: string
  readonly day: string
  readonly version: number
}

interface Target {
  readonly partition: Partition
  readonly day: string
  readonly table: RawBuilder<unknown>
  readonly name: string
  /** Counts a statement that wrote rows. */
  readonly wrote: (rows: readonly unknown[]) => void
}

const visitKey = (day: string, id: number | string): string => JSON.stringify([day, String(id)])
const returning = sql`returning id, to_char(day, 'YYYY-MM-DD') as day, version`

/** A day, and the table to write it by. */
function aim(work: Work): Target {
  const partition = work.partitions.pick(work.random)
  const directly = work.random.chance(0.5)
  const name = directly ? partition.table : 'visits'
  return {
    partition,
    day: dayText(work.random.int(partition.from, partition.below - 1)),
    table: sql.table(name),
    name,
    wrote: (rows) => work.did(directly ? 'partitionsDirect' : 'partitionsWritten', rows.length > 0 ? 1 : 0),
  }
}

function note({ notes }: Work, rows: readonly Written[]): void {
  for (const { id, day, version } of rows)
    notes.note('visits', visitKey(day, id), version === 1 ? 'arrived' : 'wrote', version)
}

const someIds = ({ random }: Work): number[] => random.ints(random.int(1, 12), 1, IDS)

const insert: Operation = async (work, whose) => {
  const { day, table, wrote } = aim(work)
  const { rows } =
    await sql<Written>`insert into ${table} (day, id, tenant_id) select ${day}::date, id, ${whose} from unnest(${someIds(work)}::bigint[]) id
    on conflict do nothing ${returning}`.execute(work.trx)
  note(work, rows)
  wrote(rows)
}

const upsert: Operation = async (work, whose) => {
  const { day, table, name, wrote } = aim(work)
  const { rows } =
    await sql<Written>`insert into ${table} as v (day, id, tenant_id) select ${day}::date, id, ${whose} from unnest(${someIds(work)}::bigint[]) id
    on conflict (day, id) do update set version = v.version + 1, tenant_id = excluded.tenant_id
    returning v.id, to_char(v.day, 'YYYY-MM-DD') as day, v.version`.execute(work.trx)
  note(work, rows)
  wrote(rows)
  work.did('upserts', name === 'visits' ? 1 : 0)
}

const update: Operation = async (work, whose) => {
  const { table, wrote } = aim(work)
  const { rows } =
    await sql<Written>`update ${table} set version = version + 1, note = ${String(work.random.next())}, tenant_id = ${whose}
    where id = any (${someIds(work)}::bigint[]) and extract(day from day)::int % 5 = ${work.random.int(0, 4)} ${returning}`.execute(
      work.trx,
    )
  note(work, rows)
  wrote(rows)
}

/** A leaf below a partition that is partitioned itself. */
const updateLeaf: Operation = async (work) => {
  const { rows } =
    await sql<Written>`update ${sql.table(work.random.pick(['visits_late_0', 'visits_late_1']))} set version = version + 1
    where id = any (${someIds(work)}::bigint[]) ${returning}`.execute(work.trx)
  note(work, rows)
  work.did('partitionsDirect', rows.length > 0 ? 1 : 0)
}

/** Where the row would go there is none, or a unique violation would end most moves. */
const freeOn = (day: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`not exists (select from visits x where x.id = visits.id and x.day = ${day})`

/**
 * Moves rows a number of days on by one statement. What it wrote is asked for apart: RETURNING of an update that moves a row to a partition whose columns
 * stand in another order fails now and then on Postgres 18, with 42804.
 */
async function moveBy(
  work: Work,
  days: number,
  where: RawBuilder<unknown>,
): Promise<readonly { from: string; to: string }[]> {
  const { trx, notes } = work
  const { rows: known } = await sql<{ id: string; from: string; to: string }>`
    select id, to_char(day, 'YYYY-MM-DD') as from, to_char(day + ${days}::int, 'YYYY-MM-DD') as to from visits
    where ${where} and ${freeOn(sql`visits.day + ${days}::int`)} for update`.execute(trx)
  const [ids, from, to] = [known.map(({ id }) => id), known.map((row) => row.from), known.map((row) => row.to)]
  await sql`update visits set version = version + 1, day = day + ${days}::int
    where (id, day) in (select * from unnest(${ids}::bigint[], ${from}::date[]))`.execute(trx)
  const { rows } = await sql<Written>`select id, to_char(day, 'YYYY-MM-DD') as day, version from visits
    where (id, day) in (select * from unnest(${ids}::bigint[], ${to}::date[]))`.execute(trx)
  for (const row of known) notes.note('visits', visitKey(row.from, row.id), 'left')
  for (const { id, day, version } of rows) notes.note('visits', visitKey(day, id), 'arrived', version)
  if (rows.length !== known.length) throw new Error('moved rows are not where they were moved to')
  work.did('keyChanges', rows.length)
  return known
}

/** Rows move to another day, mostly of another partition. */
const move: Operation = async (work) => {
  const [from, to] = [aim(work), aim(work)]
  const days = Math.round((Date.parse(to.day) - Date.parse(from.day)) / 86_400_000)
  if (days === 0) return
  const moved = await moveBy(work, days, sql`day = ${from.day}::date and id = any (${someIds(work)}::bigint[])`)
  work.did('partitionMoves', from.partition === to.partition ? 0 : moved.length)
}

/** A week goes a week further, by one statement that moves rows within a partition and to both leaves of the next one. */
const shift: Operation = async (work) => {
  const ids = work.random.ints(2, 1, IDS)
  const moved = await moveBy(work, 7, sql`id = any (${ids}::bigint[]) and day between '2024-01-02' and '2024-01-09'`)
  work.did('partitionMoves', moved.filter(({ to }) => to >= '2024-01-11').length)
}

const remove: Operation = async (work) => {
  const { day, table, wrote } = aim(work)
  const { rows } =
    await sql<Written>`delete from ${table} where day = ${day}::date and id = any (${someIds(work)}::bigint[]) ${returning}`.execute(
      work.trx,
    )
  for (const row of rows) work.notes.note('visits', visitKey(row.day, row.id), 'left')
  wrote(rows)
  work.did('deletes')
}

/** Three ways in one statement: deleted, updated, inserted. */
const merge: Operation = async (work, whose) => {
  const { day, table, wrote } = aim(work)
  const ids = someIds(work)
  const named = sql`from visits where day = ${day}::date and id = any (${ids}::bigint[])`
  const { rows: before } =
    await sql<Written>`select id, to_char(day, 'YYYY-MM-DD') as day, version ${named} for update`.execute(work.trx)
  await sql`merge into ${table} v using unnest(${ids}::bigint[]) given(id) on v.day = ${day}::date and v.id = given.id
    when matched and v.id % 4 = 0 then delete
    when matched then update set version = v.version + 1, note = 'merged'
    when not matched then insert (day, id, tenant_id) values (${day}::date, given.id, ${whose})`.execute(work.trx)
  const { rows } = await sql<Written>`select id, to_char(day, 'YYYY-MM-DD') as day, version ${named}`.execute(work.trx)
  for (const { id } of before) if (Number(id) % 4 === 0) work.notes.note('visits', visitKey(day, id), 'left')
  note(work, rows)
  wrote([...before, ...rows])
  work.did('merges')
}

/** Rows with ids that nobody else uses. */
const copy: Operation = async (work, whose) => {
  const { day, name, wrote } = aim(work)
  const first = work.random.int(1_000_000, 2_000_000_000)
  const ids = Array.from({ length: work.random.int(1, 20) }, (_, i) => first + i)
  await copyRows(
    work,
    `${name} (id, tenant_id, day)`,
    ids.map((id) => [id, whose, day]),
  )
  for (const id of ids) work.notes.note('visits', visitKey(day, id), 'arrived', 1)
  wrote(ids)
}

export const visitOperations: readonly Operation[] = [
  insert,
  insert,
  insert,
  upsert,
  update,
  update,
  updateLeaf,
  move,
  move,
  shift,
  remove,
  merge,
  copy,
]

/** In everybody's way, so seldom: one partition or leaf, or all. */
export const visitTruncate: Operation = async (work) => {
  const table = work.random.pick(['visits_early', 'visits_late_1', 'visits_late', 'visits'])
  await truncateVisits(work, table)
}

export async function truncateVisits(work: Work, table: string): Promise<void> {
  await impatiently(work, () => sql`truncate ${sql.table(table)}`.execute(work.trx))
  work.notes.note('visits', null, 'left')
  work.did('truncates')
  work.did('partitionTruncates', table === 'visits' ? 0 : 1)
}
