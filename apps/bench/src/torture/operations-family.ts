import { type RawBuilder, sql } from 'kysely'
import { type Image, idsOf, lockRows, noteDifference, pickIds, shiftedId, SHIFT } from './image.ts'
import type { TortureTable } from './tables.ts'
import { impatiently, type Operation, type Work } from './writer-context.ts'

/*
 * Statements on projects, their tasks, and the comments and shares that hang on both: most of what they write is written by foreign keys. `shares` is
 * partitioned; `comments` and `shares` are set to null by one foreign key and deleted by another.
 */

const PROJECTS = 24
const OTHERS = 160

interface Written {
  readonly id: string
  readonly version: number
}

const among = (ids: readonly (number | string)[]): RawBuilder<unknown> => sql`any (${ids}::bigint[])`

function noteArrived({ notes }: Work, table: TortureTable, rows: readonly Written[]): void {
  for (const { id, version } of rows) notes.note(table, id, 'arrived', version)
}

/** Some row of a table, another one for each new row. */
function someOf(work: Work, table: 'projects' | 'tasks'): RawBuilder<unknown> {
  const [factor, turn] = [work.random.int(1, 30), work.random.int(1, 1000)]
  return sql`(select x.id from ${sql.table(table)} x order by (x.id * ${factor} + given.id + ${turn}) % 61, x.id limit 1)`
}

const insertProjects: Operation = async (work, whose) => {
  const ids = work.random.ints(6, 1, PROJECTS)
  const { rows } =
    await sql<Written>`insert into projects (id, tenant_id) select id, ${whose} from unnest(${ids}::bigint[]) id
    on conflict do nothing returning id, version`.execute(work.trx)
  noteArrived(work, 'projects', rows)
}

/** Of the tenant of their project, as their foreign key says. */
const insertTasks: Operation = async (work) => {
  const ids = work.random.ints(10, 1, OTHERS)
  const { rows } =
    await sql<Written>`insert into tasks (id, tenant_id, project_id) select given.id, p.tenant_id, p.id from unnest(${ids}::bigint[]) given(id)
      join projects p on p.id = ${someOf(work, 'projects')} on conflict do nothing returning id, version`.execute(
      work.trx,
    )
  noteArrived(work, 'tasks', rows)
}

const insertComments: Operation = async (work, whose) => {
  const ids = work.random.ints(10, 1, OTHERS)
  const { rows } = await sql<Written>`insert into comments (id, tenant_id, task_id, about_id, copied_id)
      select given.id, ${whose}, ${someOf(work, 'tasks')}, ${someOf(work, 'projects')}, ${someOf(work, 'projects')}
      from unnest(${ids}::bigint[]) given(id) on conflict do nothing returning id, version`.execute(work.trx)
  noteArrived(work, 'comments', rows)
}

const insertShares: Operation = async (work, whose) => {
  const ids = work.random.ints(10, 1, OTHERS)
  const { rows } = await sql<Written>`insert into shares (id, tenant_id, task_id, project_id)
      select given.id, ${whose}, ${someOf(work, 'tasks')}, ${someOf(work, 'projects')}
      from unnest(${ids}::bigint[]) given(id) on conflict do nothing returning id, version`.execute(work.trx)
  noteArrived(work, 'shares', rows)
}

const update: Operation = async (work) => {
  const table = work.random.pick(['projects', 'tasks', 'comments', 'shares'] as const)
  const ids = work.random.ints(6, 1, table === 'projects' ? PROJECTS : OTHERS)
  const { rows } = await sql<Written>`update ${sql.table(table)} set note = ${String(work.random.next())}
    where id = ${among(ids)} returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note(table, id, 'wrote', version)
}

/** Locked rows that a statement on the first of these tables may reach. */
type Family = readonly (readonly [table: TortureTable, rows: Image])[]

/** Projects with all that hangs on them, from the top, so that nobody can add to it meanwhile. */
async function lockProjects(work: Work, wanted: readonly string[]): Promise<{ ids: string[]; family: Family }> {
  const projects = await lockRows(work, 'projects', sql`id = ${among(wanted)}`)
  const ids = idsOf(projects)
  const tasks = await lockRows(work, 'tasks', sql`project_id = ${among(ids)}`)
  const ofTask = sql`task_id = ${among(idsOf(tasks))}`
  const comments = await lockRows(
    work,
    'comments',
    sql`${ofTask} or about_id = ${among(ids)} or copied_id = ${among(ids)}`,
  )
  const shares = await lockRows(work, 'shares', sql`${ofTask} or project_id = ${among(ids)}`)
  return {
    ids,
    family: [
      ['projects', projects],
      ['tasks', tasks],
      ['comments', comments],
      ['shares', shares],
    ],
  }
}

async function lockTasks(work: Work, where: RawBuilder<unknown>): Promise<{ ids: string[]; family: Family }> {
  const tasks = await lockRows(work, 'tasks', where)
  const ids = idsOf(tasks)
  const comments = await lockRows(work, 'comments', sql`task_id = ${among(ids)}`)
  const shares = await lockRows(work, 'shares', sql`task_id = ${among(ids)}`)
  return {
    ids,
    family: [
      ['tasks', tasks],
      ['comments', comments],
      ['shares', shares],
    ],
  }
}

/** Notes what became of a family, and returns how many rows foreign keys deleted and wrote. */
async function noteFamily(
  work: Work,
  family: Family,
  newIds: readonly string[] = [],
): Promise<{ left: number; wrote: number }> {
  let [left, wrote] = [0, 0]
  for (const [i, [table, rows]] of family.entries()) {
    const difference = await noteDifference(work, table, rows, i === 0 ? newIds : [])
    if (i === 0) continue
    left += difference.left
    wrote += difference.wrote
  }
  return { left, wrote }
}

/** Several in one statement: what is set to null for one may be deleted for the next. */
const deleteProjects: Operation = async (work) => {
  const { ids, family } = await lockProjects(work, await pickIds(work, 'tasks', 'project_id', work.random.int(1, 3)))
  await sql`delete from projects where id = ${among(ids)}`.execute(work.trx)
  const { left, wrote } = await noteFamily(work, family)
  work.did('cascades', left)
  work.did('nullCascades', wrote)
}

const rekeyProject: Operation = async (work) => {
  const { ids, family } = await lockProjects(work, await pickIds(work, 'projects', 'id', 1))
  const [id] = ids
  if (id === undefined) return
  await sql`update projects set id = ${shiftedId(id)} where id = ${id}`.execute(work.trx)
  const { wrote } = await noteFamily(work, family, [shiftedId(id)])
  work.did('keyChanges')
  work.did('keyCascades', wrote)
}

/** Their tasks move along, by a key of two columns. */
const moveProjects: Operation = async (work, whose) => {
  const { ids, family } = await lockProjects(work, await pickIds(work, 'projects', 'id', work.random.int(1, 2)))
  await sql`update projects set tenant_id = ${whose} where id = ${among(ids)}`.execute(work.trx)
  const { wrote } = await noteFamily(work, family)
  work.did('moves')
  work.did('keyCascades', wrote)
}

const deleteTasks: Operation = async (work) => {
  const { ids, family } = await lockTasks(work, sql`id = ${among(await pickIds(work, 'comments', 'task_id', 3))}`)
  await sql`delete from tasks where id = ${among(ids)}`.execute(work.trx)
  const { wrote } = await noteFamily(work, family)
  work.did('deletes')
  work.did('nullCascades', wrote)
}

const rekeyTasks: Operation = async (work) => {
  const few = sql`id between 1 and ${OTHERS} and id % 13 = ${work.random.int(0, 12)}`
  const { ids, family } = await lockTasks(work, few)
  await sql`update tasks set id = id + ${SHIFT} where id = ${among(ids)}`.execute(work.trx)
  const { wrote } = await noteFamily(work, family, ids.map(shiftedId))
  work.did('keyChanges', ids.length)
  work.did('keyCascades', wrote)
}

/** The whole family at once. In everybody's way, so seldom. */
export const familyTruncate: Operation = async (work) => {
  await impatiently(work, () => sql`truncate projects cascade`.execute(work.trx))
  for (const table of ['projects', 'tasks', 'comments', 'shares'] as const) work.notes.note(table, null, 'left')
  work.did('truncates')
}

/** Fills what the others empty. */
export const familyGrowth: readonly Operation[] = [insertProjects, insertTasks, insertComments, insertShares]

export const familyOperations: readonly Operation[] = [
  ...familyGrowth,
  ...familyGrowth,
  update,
  update,
  deleteProjects,
  rekeyProject,
  moveProjects,
  deleteTasks,
  rekeyTasks,
]
