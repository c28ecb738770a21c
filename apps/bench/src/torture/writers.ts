import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { kinds } from './kinds.ts'
import { insertItems, updateItems } from './operations-items.ts'
import { writeDrafts } from './operations-others.ts'
import { anything, anythingInBulk, everything, longIds, withoutTriggers } from './operations.ts'
import { securedOperations, securedTruncate } from './operations-secured.ts'
import type { Random } from './random.ts'
import { tenants } from './tables.ts'
import { inSavepoint, inTransaction, type Operation, pause, type Work, type WriterWorld } from './writer-context.ts'

/** A writer: short transactions of a few statements, one after the other, until the run ends. */
export async function runWriter(world: WriterWorld, random: Random, bulky: boolean): Promise<void> {
  while (!world.stopping()) {
    const asReplica = random.chance(0.05)
    await inTransaction(world, random, {
      isolation: random.chance(0.75) ? 'read committed' : random.pick(['repeatable read', 'serializable'] as const),
      end: random.chance(0.12) ? 'rollback' : random.chance(0.03) ? 'prepare' : 'commit',
      work: async (work) => {
        // Transaction ids and entry ids come in different orders: some have an id long before their first entry.
        if (random.chance(0.4)) {
          await sql`select pg_current_xact_id()`.execute(work.trx)
          await delay(random.int(0, 60))
        }
        if (asReplica) await becomeReplica(work)
        const operation = asReplica ? anyOf(withoutTriggers) : bulky ? anythingInBulk : anything
        const statements = random.int(1, 5)
        for (let i = 0; i < statements; i++) {
          await someStatements(work, 0, operation)
          if (random.chance(0.35)) await pause(random)
        }
      },
    })
    await delay(random.int(0, 15))
  }
}

/** A statement, or a savepoint around some, up to three deep. */
async function someStatements(work: Work, depth: number, operation: Operation): Promise<void> {
  const { random } = work
  if (depth < 3 && random.chance(0.35)) {
    await inSavepoint(work, async () => {
      const statements = random.int(1, 2)
      for (let i = 0; i < statements; i++) await someStatements(work, depth + 1, operation)
    })
    return
  }
  await operation(work, random.pick(tenants))
}

const anyOf =
  (operations: readonly Operation[]): Operation =>
  (work, whose) =>
    work.random.pick(operations)(work, whose)

/** In this role only triggers that are always enabled fire. */
async function becomeReplica(work: Work): Promise<void> {
  await sql`set local session_replication_role = replica`.execute(work.trx)
  work.did('replicaRole')
}

/** Rounds that the thorough writer adds when something has not happened by the end of the run. */
const EXTRA_ROUNDS = 5

/**
 * A writer that does everything there is, one by one, in another order each time: what chance alone might leave out of a short run. On a slow machine it
 * goes on until everything has happened.
 */
export async function runThoroughWriter(world: WriterWorld, random: Random): Promise<void> {
  const missing = (): boolean => kinds.some((kind) => world.stats[kind] === 0)
  const once = async (end: 'commit' | 'prepare', operation: Operation): Promise<void> => {
    await inTransaction(world, random, {
      isolation: 'read committed',
      end,
      work: (work) => operation(work, random.pick(tenants)),
    })
    await delay(random.int(0, 10))
  }
  for (let extra = 0; extra < EXTRA_ROUNDS; extra += world.stopping() ? 1 : 0) {
    const order = everything.map((operation) => ({ operation, at: random.next() })).toSorted((a, b) => a.at - b.at)
    for (const { operation } of order) {
      if (world.stopping() && !missing()) return
      await once('commit', operation)
    }
    await once('prepare', random.pick(everything))
    await once('commit', async (work, whose) => {
      await becomeReplica(work)
      await random.pick(withoutTriggers)(work, whose)
    })
  }
}

/** A writer in a plain role, on its own tables with row security. */
export async function runOwner(world: WriterWorld, random: Random): Promise<void> {
  while (!world.stopping()) {
    await inTransaction(world, random, {
      isolation: random.chance(0.8) ? 'read committed' : 'repeatable read',
      end: random.chance(0.15) ? 'rollback' : random.chance(0.05) ? 'prepare' : 'commit',
      work: async (work) => {
        const statements = random.int(1, 4)
        for (let i = 0; i < statements; i++) {
          await someStatements(work, 2, random.chance(0.02) ? securedTruncate : anyOf(securedOperations))
          await pause(random)
        }
      },
    })
    await delay(random.int(5, 40))
  }
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
          await inSavepoint(work, () => updateItems(work, longIds(random)))
          // Whatever it locks, the others soon give up.
          if (random.chance(0.5)) await inSavepoint(work, () => anything(work, random.pick(tenants)))
          // Rare: whoever has written drafts is in the way of everybody's TRUNCATE.
          if (random.chance(0.15)) await writeDrafts(work, random.pick(tenants))
        }
        while (performance.now() < until) {
          await delay(Math.max(0, Math.min(random.int(50, 400), until - performance.now())))
          if (kind === 'throughout') await updateItems(work, [mine + random.int(0, 2)])
        }
        if (kind === 'late' || kind === 'throughout')
          await insertItems(work, random.ints(5, mine + 500, mine + 520), random.pick(tenants))
        if (kind === 'late') await inSavepoint(work, () => updateItems(work, longIds(random)))
      },
    })
  }
}
