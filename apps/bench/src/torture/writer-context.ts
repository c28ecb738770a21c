import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Kind, WriterStats } from './kinds.ts'
import type { Partitions } from './partitions.ts'
import type { Random } from './random.ts'
import type { Side } from './schema.ts'
import type { TortureDatabase, TortureFeed } from './tables.ts'
import type { TransactionWitness, Witness } from './witness.ts'

/** What all writers of a run share, but for the side. */
export interface WriterWorld {
  readonly side: Side
  readonly witness: Witness
  readonly stats: WriterStats
  /** Whether writers are to come to an end. */
  readonly stopping: () => boolean
  /** Whether two-phase commit is enabled on the server. */
  readonly canPrepare: boolean
  /** Major version of the server. */
  readonly major: number
  /** Whether bulk statements are within the run's budget: asked before each, and told after it. */
  readonly mayBulk: () => boolean
  readonly wroteBulk: (rows: number) => void
  readonly partitions: Partitions
}

/** An open transaction of a writer. */
export interface Work {
  readonly trx: Transaction<TortureDatabase>
  readonly feed: TortureFeed
  readonly side: Side
  readonly notes: TransactionWitness
  readonly stats: WriterStats
  readonly random: Random
  readonly major: number
  readonly mayBulk: () => boolean
  readonly wroteBulk: (rows: number) => void
  readonly partitions: Partitions
  /** Counts what was done, once it is committed. */
  readonly did: (kind: Kind, times?: number) => void
}

/** Something a writer does in its transaction, for one tenant where it makes new rows: a statement or a few. */
export type Operation = (work: Work, whose: string) => Promise<void>

/** How long a writer waits for a lock: shorter than the deadlock check, so that writers that block each other soon go on. */
const PATIENCE: RawBuilder<unknown> = sql`'300ms'`
class RollbackWanted extends Error {}

/** Errors that concurrent writers meet in earnest: unique and foreign key violation, lock timeout, deadlock, serialization failure. */
const EXPECTED = new Set(['23505', '23503', '55P03', '40P01', '40001'])

function isExpected(error: unknown): boolean {
  return EXPECTED.has((error as { code?: string }).code ?? '')
}

export interface TransactionPlan {
  readonly isolation: 'read committed' | 'repeatable read' | 'serializable'
  readonly end: 'commit' | 'rollback' | 'prepare'
  readonly work: (work: Work) => Promise<void>
}

let preparedNames = 0

/** Runs one transaction to its planned end and tells the witness what was committed. Returns whether it committed. */
export async function inTransaction(world: WriterWorld, random: Random, plan: TransactionPlan): Promise<boolean> {
  const { side, witness, stats } = world
  const notes = witness.begin()
  const start = performance.now()
  const toPrepare = plan.end === 'prepare' && world.canPrepare
  const gid = toPrepare ? `torture ${process.pid} ${(preparedNames += 1)}` : null
  let tx: string | null = null
  try {
    await side.db
      .transaction()
      .setIsolationLevel(plan.isolation)
      .execute(async (trx) => {
        await sql`set local lock_timeout = ${PATIENCE}`.execute(trx)
        const { mayBulk, wroteBulk, major, partitions } = world
        const did = (kind: Kind, times = 1): void => notes.did(kind, times)
        await plan.work({
          trx,
          feed: side.feed,
          side,
          notes,
          stats,
          random,
          major,
          mayBulk,
          wroteBulk,
          partitions,
          did,
        })
        if (plan.end === 'rollback') throw new RollbackWanted()
        const { rows } = await sql<{ tx: string | null }>`select pg_current_xact_id_if_assigned()::text as tx`.execute(
          trx,
        )
        tx = rows[0]?.tx ?? null
        if (tx !== null && plan.isolation !== 'read committed') did('strictIsolation')
        // The commit that follows finds no transaction, which is only a notice.
        if (gid !== null) await sql`prepare transaction ${sql.lit(gid)}`.execute(trx)
      })
    if (gid !== null) {
      await delay(random.int(1, 300))
      await sql`commit prepared ${sql.lit(gid)}`.execute(side.db)
      notes.did('prepared', 1)
    }
  } catch (error) {
    if (!(error instanceof RollbackWanted) && !isExpected(error)) throw error
    stats.rolledBack += 1
    return false
  } finally {
    stats.longestOpenMs = Math.max(stats.longestOpenMs, performance.now() - start)
  }
  for (const { kind, times } of notes.commit(tx)) stats[kind] += times
  stats.committed += 1
  return true
}

let savepointNames = 0

/** Runs `work` inside a savepoint, which is then kept, released or rolled back; an expected error rolls back to it. */
export async function inSavepoint(work: Work, inner: () => Promise<void>): Promise<void> {
  const { trx, notes, stats, random } = work
  const name = sql.id(`s${(savepointNames += 1)}`)
  const mark = notes.mark()
  await sql`savepoint ${name}`.execute(trx)
  stats.savepoints += 1
  const undo = async (): Promise<void> => {
    await sql`rollback to savepoint ${name}`.execute(trx)
    notes.rollBackTo(mark)
    stats.savepointsRolledBack += 1
  }
  try {
    await inner()
  } catch (error) {
    // After a serialization failure nothing can be saved.
    if (!isExpected(error) || (error as { code?: string }).code === '40001') throw error
    await undo()
    return
  }
  if (random.chance(0.3)) await undo()
  else if (random.chance(0.5)) await sql`release savepoint ${name}`.execute(trx)
}

/** Runs statements with another patience. */
export async function sooner<T>({ trx }: Work, patience: string, statements: () => Promise<T>): Promise<T> {
  await sql`set local lock_timeout = ${sql.lit(patience)}`.execute(trx)
  const result = await statements()
  await sql`set local lock_timeout = ${PATIENCE}`.execute(trx)
  return result
}

/** Runs a statement that waits for everybody, while everybody waits behind it. */
export async function impatiently<T>(work: Work, statement: () => Promise<T>): Promise<T> {
  return await sooner(work, '150ms', statement)
}

/** A pause inside a transaction: mostly short, now and then long. */
export async function pause(random: Random): Promise<void> {
  await delay(random.chance(0.03) ? random.int(200, 1200) : random.int(0, 12))
}
