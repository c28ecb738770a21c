import type { Cursor } from '../../../src/cursor/cursor.ts'
import type { PagePlan, PageView } from '../../../src/read/plan-page.ts'

/**
 * States that schedules must reach, and in how many schedules each must come up once at least: a model that never drains proves nothing about
 * draining. What is reached in fact is several times as much.
 */
const oneIn = {
  'up to date': 1,
  'straggler page': 2,
  'straggler in progress': 1,
  'straggler above xmax': 20,
  'straggler looked up by range': 500,
  'part on hw': 1,
  'drain begins': 5,
  'drain goes on': 5,
  'drain ends': 5,
  'part in drain': 5,
  'part on hw and in drain': 20,
  'empty page, more behind': 5,
  'table-level change': 5,
  held: 2,
  'held while draining': 100,
  'served in an old snapshot': 2,
  'cursor read twice': 5,
}

/** The same for states that only pruning and compaction bring about. */
const oneInWithRetention = {
  'straggler of the oldest cursor': 50,
  'blanked key passed over': 200,
  'pruned by id': 10,
  'pruned by xid': 200,
  'served above a floor': 1,
}

type State = keyof typeof oneIn | keyof typeof oneInWithRetention

export type Visits = Record<State, number>

export function noVisits(): Visits {
  const states = Object.keys({ ...oneIn, ...oneInWithRetention })
  return Object.fromEntries(states.map((state) => [state, 0])) as Visits
}

/** The states that `runs` schedules reached too seldom. */
export function tooSeldom(visits: Visits, runs: number, retention: boolean): Partial<Visits> {
  const wanted = retention ? { ...oneIn, ...oneInWithRetention } : oneIn
  const seldom = (state: string, one: number): boolean => visits[state as State] < Math.floor(runs / one)
  const found = Object.entries(wanted).filter(([state, one]) => seldom(state, one))
  return Object.fromEntries(found.map(([state]) => [state, visits[state as State]]))
}

/** Counts the states that one planned read shows. */
export function countVisits(visits: Visits, before: Cursor, view: PageView, plan: PagePlan): void {
  if (plan.kind === 'held') {
    visits[before.drain === null ? 'held' : 'held while draining']++
    return
  }
  if (plan.kind === 'pruned') {
    visits[before.hw < view.floor.id ? 'pruned by id' : 'pruned by xid']++
    return
  }
  const { cursor, changes, hasMore } = plan
  if (!hasMore) visits['up to date']++
  if (view.floor.id > 0n) visits['served above a floor']++
  if (cursor.part > 0) visits['part on hw']++
  if (cursor.drain !== null) visits[before.drain === null ? 'drain begins' : 'drain goes on']++
  else if (before.drain !== null) visits['drain ends']++
  if (cursor.drain !== null && cursor.drain.part > 0) {
    visits['part in drain']++
    if (cursor.part > 0) visits['part on hw and in drain']++
  }
  if (hasMore && changes.length === 0) visits['empty page, more behind']++
  for (const { entry, ordinal, key } of changes) {
    if (entry.keys === null) visits['table-level change']++
    else if (key !== null && entry.keys[ordinal - entry.from - 1] === null) visits['blanked key passed over']++
    if (entry.id <= before.hw) countStraggler(visits, before, entry.tx)
  }
  if (changes[0] !== undefined && changes[0].entry.id <= before.hw) visits['straggler page']++
}

function countStraggler(visits: Visits, { snap }: Cursor, tx: bigint): void {
  visits[tx < snap.xmax ? 'straggler in progress' : 'straggler above xmax']++
  if (snap.next === null) visits['straggler of the oldest cursor']++
  else if (tx >= snap.xmax && snap.next - snap.xmax > 1000n) visits['straggler looked up by range']++
}
