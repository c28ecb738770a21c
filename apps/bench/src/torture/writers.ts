import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import {
  BULK,
  bulkItems,
  changeKey,
  COMMON,
  deleteItems,
  insertItems,
  LONG,
  mergeItems,
  moveItems,
  replaceItems,
  updateItems,
  upsertItems,
} from './operations-items.ts'
import {
  announce,
  fillSlots,
  insertSlots,
  swapSlots,
  writeDrafts,
  writeLines,
  writeRates,
} from './operations-others.ts'
import type { Random } from './random.ts'
import { BULKY, tenants } from './schema.ts'
import { inSavepoint, inTransaction, PATIENCE, pause, type Work, type WriterWorld } from './writer-context.ts'

/** The rows a run begins with, written by one captured transaction. */
export async function seedRows(world: WriterWorld, random: Random): Promise<void> {
  await inTransaction(world, random, {
    isolation: 'read committed',
    end: 'commit',
    work: async (work) => {
      const range = (first: number, last: number): number[] =>
        Array.from({ length: last - first + 1 }, (_, i) => first + i)
      for (const [i, tenant] of tenants.entries()) {
        await insertItems(
          work,
          range(COMMON.first, COMMON.last).filter((id) => id % tenants.length === i),
          tenant,
        )
        await insertItems(
          work,
          range(LONG.first, LONG.last).filter((id) => id % tenants.length === i),
          tenant,
        )
      }
      for (const tenant of BULKY)
        await insertItems(
          work,
          range(BULK.first, BULK.last).filter((id) => (id % 2 === 0) === (tenant === 'north')),
          tenant,
        )
      for (const [i, tenant] of tenants.entries()) await insertSlots(work, i, tenant)
    },
  })
}

/** A writer: short transactions of a few statements, one after the other, until the run ends. */
export async function runWriter(world: WriterWorld, random: Random, bulky: boolean): Promise<void> {
  while (!world.stopping()) {
    await inTransaction(world, random, {
      isolation: random.chance(0.75) ? 'read committed' : random.pick(['repeatable read', 'serializable'] as const),
      end: random.chance(0.12) ? 'rollback' : random.chance(0.03) ? 'prepare' : 'commit',
      work: async (work) => {
        // Transaction ids and entry ids come in different orders: some have an id long before their first entry.
        if (random.chance(0.4)) {
          await sql`select pg_current_xact_id()`.execute(work.trx)
          await delay(random.int(0, 60))
        }
        const statements = random.int(1, 5)
        for (let i = 0; i < statements; i++) {
          await someStatements(work, 0, bulky)
          if (random.chance(0.35)) await pause(random)
        }
      },
    })
    await delay(random.int(0, 15))
  }
}

/** The first rows are written by everybody, again and again: what is delivered of them must keep its order. */
const HOT = 12

/** A statement, or a savepoint around some, up to three deep. */
async function someStatements(work: Work, depth: number, bulky: boolean): Promise<void> {
  const { random } = work
  if (depth < 3 && random.chance(0.35)) {
    await inSavepoint(work, async () => {
      const statements = random.int(1, 2)
      for (let i = 0; i < statements; i++) await someStatements(work, depth + 1, bulky)
    })
    return
  }
  await oneStatement(work, bulky)
}

async function oneStatement(work: Work, bulky: boolean): Promise<void> {
  const { random } = work
  if (bulky && random.chance(0.35)) return await bulkItems(work)
  const tenant = random.pick(tenants)
  const id = (): number => random.int(COMMON.first, random.chance(0.4) ? HOT : COMMON.last)
  const some = (): number[] => random.ints(random.int(1, 6), COMMON.first, COMMON.last)
  const dice = random.int(0, 99)
  if (dice < 22) return await updateItems(work, [id(), id()])
  if (dice < 30) return await updateItems(work, random.ints(20, COMMON.first, COMMON.last))
  if (dice < 36) return await insertItems(work, some(), tenant)
  if (dice < 42) return await upsertItems(work, some(), tenant)
  if (dice < 46) return await mergeItems(work, some(), tenant)
  if (dice < 51) return await deleteItems(work, some())
  if (dice < 58) return await moveItems(work, some())
  if (dice < 63) return await changeKey(work, id(), id() + (random.chance(0.5) ? 0 : 600))
  if (dice < 66) return await replaceItems(work, some(), random.pick([0, 1, 600]), tenant)
  if (dice < 69) return await updateLongOnes(work)
  if (dice < 79) return await writeLines(work, tenant)
  if (dice < 84) return await swapSlots(work)
  if (dice < 88) return await fillSlots(work, tenant)
  if (dice < 93) return await writeRates(work)
  if (dice < 96) return await writeDrafts(work, tenant)
  return await announce(work, tenant)
}

/** Rows that a long transaction may hold: given up soon, which leaves a rolled-back subtransaction or transaction behind. */
async function updateLongOnes(work: Work): Promise<void> {
  await inSavepoint(work, async () => {
    await sql`set local lock_timeout = '80ms'`.execute(work.trx)
    await updateItems(work, random40(work))
    await sql`set local lock_timeout = ${PATIENCE}`.execute(work.trx)
  })
}

function random40({ random }: Work): number[] {
  return random.ints(2, LONG.first, LONG.last)
}

/** How long a long transaction stays open, at least and at most. */
const LONG_MS = [2050, 2900] as const

/**
 * A writer of long transactions, each open for more than two seconds. Some write at once and then hold, some write all along, some only take an id and
 * write at the very end, and strangers never write to a tracked table. `first` is the delay of the first one, so that several overlap.
 */
export async function runLongWriter(world: WriterWorld, random: Random, first: number): Promise<void> {
  await delay(first)
  while (!world.stopping()) {
    const kind = random.pick(['early', 'early', 'throughout', 'late', 'stranger'] as const)
    await inTransaction(world, random, {
      isolation: random.chance(0.7) ? 'read committed' : 'repeatable read',
      end: random.chance(0.15) ? 'rollback' : random.chance(0.2) ? 'prepare' : 'commit',
      work: async (work) => {
        const until = performance.now() + random.int(...LONG_MS)
        const mine = random.int(20_000_000, 2_000_000_000)
        await sql`select pg_current_xact_id()`.execute(work.trx)
        if (kind === 'early' || kind === 'throughout') {
          // Many keys: when they come from behind they fill several pages, while others come from further behind.
          for (let i = 0; i < random.int(1, 8); i++) {
            await insertItems(
              work,
              Array.from({ length: random.int(3, 15) }, (_, n) => mine + 20 * i + n),
              random.pick(tenants),
            )
          }
          await inSavepoint(work, async () => await updateItems(work, random40(work)))
          // Rare: whoever has written drafts is in the way of everybody's TRUNCATE.
          if (random.chance(0.15)) await writeDrafts(work, random.pick(tenants))
        }
        while (performance.now() < until) {
          await delay(Math.max(0, Math.min(random.int(50, 400), until - performance.now())))
          if (kind === 'throughout') await updateItems(work, [mine + random.int(0, 2)])
        }
        if (kind === 'late' || kind === 'throughout')
          await insertItems(work, random.ints(5, mine + 500, mine + 520), random.pick(tenants))
        if (kind === 'late') await inSavepoint(work, async () => await updateItems(work, random40(work)))
      },
    })
  }
}
