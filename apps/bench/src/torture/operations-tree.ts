import { sql } from 'kysely'
import { type Image, idsOf, lockRows, noteDifference, pickIds, shiftedId } from './image.ts'
import type { Operation, Work } from './writer-context.ts'

/* Statements on `nodes`, a tree of one table: a node goes with everything below it, and takes its children along to another id. */

const NODES = 160

interface Written {
  readonly id: string
  readonly version: number
}

/** Below some node that is there, or at the top. */
const insert: Operation = async (work, whose) => {
  const ids = work.random.ints(8, 1, NODES)
  const [factor, turn] = [work.random.int(1, 30), work.random.int(1, 1000)]
  const { rows } = await sql<Written>`insert into nodes (id, tenant_id, parent_id) select given.id, ${whose},
      (select n.id from nodes n order by (n.id * ${factor} + given.id + ${turn}) % 61, n.id limit 1)
    from unnest(${ids}::bigint[]) given(id) on conflict do nothing returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('nodes', id, 'arrived', version)
}

const update: Operation = async (work) => {
  const { rows } = await sql<Written>`update nodes set note = ${String(work.random.next())}
    where id = any (${work.random.ints(6, 1, NODES)}::bigint[]) returning id, version`.execute(work.trx)
  for (const { id, version } of rows) work.notes.note('nodes', id, 'wrote', version)
}

/** Nodes and everything below them, level by level. */
async function lockSubtrees(work: Work, tops: readonly string[]): Promise<Image> {
  const all = new Map(await lockRows(work, 'nodes', sql`id = any (${tops}::bigint[])`))
  let level = idsOf(all)
  while (level.length > 0) {
    const below = await lockRows(work, 'nodes', sql`parent_id = any (${level}::bigint[])`)
    for (const [id, seen] of below) all.set(id, seen)
    level = idsOf(below)
  }
  return all
}

const removeSubtree: Operation = async (work) => {
  const tops = await pickIds(work, 'nodes', 'parent_id', 1)
  const nodes = await lockSubtrees(work, tops)
  if (nodes.size === 0) return
  await sql`delete from nodes where id = any (${tops}::bigint[])`.execute(work.trx)
  const { left } = await noteDifference(work, 'nodes', nodes)
  work.did('treeCascades', left - 1)
}

const rekey: Operation = async (work) => {
  const own = await lockRows(work, 'nodes', sql`id = any (${await pickIds(work, 'nodes', 'parent_id', 1)}::bigint[])`)
  const [id] = idsOf(own)
  if (id === undefined) return
  const below = await lockRows(work, 'nodes', sql`parent_id = ${id}`)
  await sql`update nodes set id = ${shiftedId(id)} where id = ${id}`.execute(work.trx)
  const { wrote } = await noteDifference(work, 'nodes', new Map([...own, ...below]), [shiftedId(id)])
  work.did('keyChanges')
  work.did('keyCascades', wrote)
}

export const treeOperations: readonly Operation[] = [insert, insert, update, removeSubtree, rekey]
