import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { insertItems, updateItems } from './operations-items.ts'
import type { Random } from './random.ts'
import { tenants } from './tables.ts'
import { inTransaction, type Work, type WriterWorld } from './writer-context.ts'

/** Subtransactions of a session that the server lists in memory. With more, others must look their parents up on disk. */
const LISTED = 64
/** From which version on the server says whether they are more. */
const SAYS_SO = 16

/**
 * A writer whose transactions have more subtransactions than the server lists, each of which wrote: nested, released and rolled back ones between one
 * another. They stay open for a moment, so that readers take snapshots meanwhile.
 */
export async function runStacker(world: WriterWorld, random: Random): Promise<void> {
  while (!world.stopping() || world.stats.subtransactionOverflows === 0) {
    let written = 0
    const committed = await inTransaction(world, random, {
      isolation: random.chance(0.7) ? 'read committed' : 'repeatable read',
      end: random.chance(0.1) ? 'rollback' : random.chance(0.25) ? 'prepare' : 'commit',
      work: async (work) => {
        written = await stack(work, random.int(LISTED + 12, LISTED + 60))
        await delay(random.int(50, 900))
        if (written > LISTED && (await overflowed(work))) work.did('subtransactionOverflows')
      },
    })
    if (committed) world.stats.mostSubtransactions = Math.max(world.stats.mostSubtransactions, written)
    await delay(random.int(50, 300))
  }
}

/** Returns how many subtransactions that wrote are part of the transaction. */
async function stack(work: Work, savepoints: number): Promise<number> {
  const { random, trx, notes, stats } = work
  const first = random.int(20_000_000, 2_000_000_000)
  let written = 0
  for (let i = 0; i < savepoints; i++) {
    const name = sql.id(`stacked${i}`)
    const mark = notes.mark()
    await sql`savepoint ${name}`.execute(trx)
    stats.savepoints += 1
    if (i > 0 && random.chance(0.3)) await updateItems(work, [first + random.int(0, i - 1), first + i - 1])
    await insertItems(work, [first + i], random.pick(tenants))
    if (random.chance(0.1)) {
      await sql`rollback to savepoint ${name}`.execute(trx)
      notes.rollBackTo(mark)
      stats.savepointsRolledBack += 1
      continue
    }
    written += 1
    // What is not released holds those that follow.
    if (random.chance(0.5)) await sql`release savepoint ${name}`.execute(trx)
  }
  return written
}

/** Whether the server says that it no longer lists them all; older ones do not say. */
async function overflowed({ trx, major }: Work): Promise<boolean> {
  if (major < SAYS_SO) return true
  const { rows } = await sql<{ overflowed: boolean }>`select s.subxact_overflowed as overflowed
    from pg_stat_get_backend_idset() b, pg_stat_get_backend_subxact(b) s where pg_stat_get_backend_pid(b) = pg_backend_pid()`.execute(
    trx,
  )
  return rows[0]?.overflowed === true
}
