import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { insertItems, updateItems } from './operations-items.ts'
import type { Random } from './random.ts'
import { tenants } from './tables.ts'
import { inTransaction, type WriterWorld } from './writer-context.ts'

/** Rows of the racers, two of each pair's own. */
const FIRST_ROW = 3001

/**
 * A pair of transactions whose ids and entries come in opposite orders, over and over: the elder takes its transaction id, the younger takes one and writes,
 * the elder writes and commits, and only then, after a moment, the younger commits. In that moment the younger is at or above the xmax of readers'
 * snapshots, unlisted, with a smaller entry id than what they have read. By chance alone this is too rare for a run of seconds.
 */
export async function runRacers(world: WriterWorld, random: Random, pair: number): Promise<void> {
  const [elderRow, youngerRow] = [FIRST_ROW + 2 * pair, FIRST_ROW + 2 * pair + 1]
  await inTransaction(world, random, {
    isolation: 'read committed',
    end: 'commit',
    work: async (work) => {
      await insertItems(work, [elderRow], random.pick(tenants))
      await insertItems(work, [youngerRow], random.pick(tenants))
    },
  })
  while (!world.stopping()) {
    const [elderHasId, youngerWrote, elderEnded] = [gate(), gate(), gate()]
    const elder = inTransaction(world, random, {
      isolation: 'read committed',
      end: 'commit',
      work: async (work) => {
        await sql`select pg_current_xact_id()`.execute(work.trx)
        elderHasId.open()
        await youngerWrote.opened
        await updateItems(work, [elderRow])
      },
    }).finally(elderEnded.open)
    await elderHasId.opened
    const younger = inTransaction(world, random, {
      isolation: 'read committed',
      end: 'commit',
      work: async (work) => {
        await updateItems(work, [youngerRow])
        youngerWrote.open()
        await elderEnded.opened
        await delay(random.int(2, 40))
      },
    }).finally(youngerWrote.open)
    await Promise.all([elder, younger])
    await delay(random.int(0, 30))
  }
}

interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

function gate(): Gate {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
