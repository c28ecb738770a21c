import { familyOperations, familyTruncate } from './operations-family.ts'
import {
  bulkItems,
  changeKey,
  COMMON,
  copyItems,
  deleteItems,
  insertItems,
  LONG,
  mergeItems,
  moveItems,
  replaceItems,
  updateItems,
  upsertItems,
} from './operations-items.ts'
import { letterOperations } from './operations-letters.ts'
import { announce, fillSlots, swapSlots, writeDrafts, writeLines, writeRates } from './operations-others.ts'
import { readingOperations } from './operations-readings.ts'
import { stockOperations } from './operations-stock.ts'
import { treeOperations } from './operations-tree.ts'
import { visitOperations, visitTruncate } from './operations-visits.ts'
import { walletOperations } from './operations-wallets.ts'
import type { Random } from './random.ts'
import { inSavepoint, type Operation, sooner } from './writer-context.ts'

/** The first rows are written by everybody, again and again: what is delivered of them must keep its order. */
const HOT = 12

const oneId = (random: Random): number => random.int(COMMON.first, random.chance(0.4) ? HOT : COMMON.last)
const someIds = (random: Random): number[] => random.ints(random.int(1, 6), COMMON.first, COMMON.last)

/** Rows that long transactions write first. */
export const longIds = (random: Random): number[] => random.ints(2, LONG.first, LONG.last)

/** Rows that a long transaction may hold: given up soon, which leaves a rolled-back subtransaction or transaction behind. */
const updateLongOnes: Operation = async (work) => {
  await inSavepoint(work, () => sooner(work, '80ms', () => updateItems(work, longIds(work.random))))
}

const itemOperations: readonly (readonly [weight: number, Operation])[] = [
  [14, (work) => updateItems(work, [oneId(work.random), oneId(work.random)])],
  [5, (work) => updateItems(work, work.random.ints(20, COMMON.first, COMMON.last))],
  [4, (work, whose) => insertItems(work, someIds(work.random), whose)],
  [4, (work, whose) => upsertItems(work, someIds(work.random), whose)],
  [3, (work, whose) => mergeItems(work, someIds(work.random), whose)],
  [3, (work) => deleteItems(work, someIds(work.random))],
  [4, (work) => moveItems(work, someIds(work.random))],
  [3, (work) => changeKey(work, oneId(work.random), oneId(work.random) + (work.random.chance(0.5) ? 0 : 600))],
  [2, (work, whose) => replaceItems(work, someIds(work.random), work.random.pick([0, 1, 600]), whose)],
  [1, copyItems],
]

const any =
  (operations: readonly Operation[]): Operation =>
  (work, whose) =>
    work.random.pick(operations)(work, whose)

/** What writers choose from, by weight. */
const menu: readonly (readonly [weight: number, Operation])[] = [
  ...itemOperations,
  [2, updateLongOnes],
  [6, writeLines],
  [4, swapSlots],
  [3, fillSlots],
  [3, writeRates],
  [2, writeDrafts],
  [3, announce],
  [5, any(readingOperations)],
  [9, any(visitOperations)],
  [5, any(walletOperations)],
  [8, any(familyOperations)],
  [3, any(treeOperations)],
  [5, any(stockOperations)],
  [5, any(letterOperations)],
  [0.3, visitTruncate],
  [0.3, familyTruncate],
]
const total = menu.reduce((sum, [weight]) => sum + weight, 0)

/** One of everything, by weight. */
export const anything: Operation = async (work, whose) => {
  let dice = work.random.next() * total
  for (const [weight, operation] of menu) {
    dice -= weight
    if (dice < 0) return await operation(work, whose)
  }
}

/** The same, with statements over thousands of rows. */
export const anythingInBulk: Operation = async (work, whose) => {
  await (work.random.chance(0.35) ? bulkItems(work) : anything(work, whose))
}

/** Everything there is, each once: for a writer that leaves nothing out. */
export const everything: readonly Operation[] = [
  ...itemOperations.map(([, operation]) => operation),
  bulkItems,
  swapSlots,
  writeDrafts,
  announce,
  ...readingOperations,
  ...visitOperations,
  ...walletOperations,
  ...familyOperations,
  ...familyOperations,
  ...treeOperations,
  ...stockOperations,
  ...letterOperations,
  visitTruncate,
  familyTruncate,
]

/** What can be written in the replica role, in which no foreign key, no deferrable key and no trigger of the application's is looked after. */
export const withoutTriggers: readonly Operation[] = [
  ...itemOperations.map(([, operation]) => operation),
  writeLines,
  writeRates,
  writeDrafts,
  ...readingOperations,
  ...visitOperations,
  ...walletOperations,
]
