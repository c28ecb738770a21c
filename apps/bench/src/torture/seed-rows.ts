import { familyGrowth } from './operations-family.ts'
import { BULK, COMMON, insertItems, LONG } from './operations-items.ts'
import { letterOperations } from './operations-letters.ts'
import { insertSlots } from './operations-others.ts'
import { stockOperations } from './operations-stock.ts'
import { treeOperations } from './operations-tree.ts'
import { visitOperations } from './operations-visits.ts'
import { walletOperations } from './operations-wallets.ts'
import { newWriterStats } from './kinds.ts'
import type { Random } from './random.ts'
import { BULKY, tenants } from './tables.ts'
import { inTransaction, type Operation, type WriterWorld } from './writer-context.ts'

/** The rows a run begins with, written by one captured transaction that nothing is counted of. */
export async function seedRows(world: WriterWorld, random: Random): Promise<void> {
  const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const share = ({ first, last }: { readonly first: number; readonly last: number }, i: number): number[] =>
    range(first, last).filter((id) => id % tenants.length === i)
  const inserts = [treeOperations, visitOperations, walletOperations, stockOperations, letterOperations].map(
    ([insert]) => insert,
  )
  const growth = [...familyGrowth, ...inserts, ...inserts].filter((operation): operation is Operation =>
    Boolean(operation),
  )
  await inTransaction({ ...world, stats: newWriterStats() }, random, {
    isolation: 'read committed',
    end: 'commit',
    work: async (work) => {
      for (const [i, tenant] of tenants.entries()) {
        await insertItems(work, share(COMMON, i), tenant)
        await insertItems(work, share(LONG, i), tenant)
        await insertSlots(work, i, tenant)
        for (const operation of [...growth, ...growth]) await operation(work, tenant)
      }
      for (const tenant of BULKY)
        await insertItems(
          work,
          range(BULK.first, BULK.last).filter((id) => (id % 2 === 0) === (tenant === 'north')),
          tenant,
        )
    },
  })
}
