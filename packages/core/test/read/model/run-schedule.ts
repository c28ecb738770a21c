import { Chain, type Setting } from './chain.ts'
import { Database } from './database.ts'
import type { Instant } from './log.ts'
import type { Planner } from './planner.ts'
import { NOW, type Schedule, type Step } from './schedule.ts'
import type { Visits } from './visits.ts'

const MOST_CHAINS = 4

/** Plays a schedule, ends all writers, and lets every reader read to the end. Throws at the first broken promise. */
export function runSchedule(schedule: Schedule, planner: Planner, visits: Visits): void {
  const database = new Database(schedule.wide)
  const setting: Setting = { database, planner, visits }
  const kept: Instant[] = []
  const chains = schedule.readers.map((request) => Chain.from('start', setting, request, database.instant()))
  const at = (snapshot: number): Instant => (snapshot === NOW ? undefined : kept[snapshot]) ?? database.instant()
  const chosen = (which: number): Chain | undefined => chains[which % chains.length]

  const play = (step: Step): void => {
    switch (step.do) {
      case 'begin':
        return database.begin(step.early)
      case 'write':
        return database.write(step.tx, step.tenant, step.table, step.rows)
      case 'append':
        return database.append(step.tx, step.tenant, step.table, step.keys)
      case 'subtransactions':
        return database.subtransactions(step.tx, step.ids, step.rolledBack)
      case 'end':
        return database.end(step.tx, step.commit)
      case 'keep':
        kept[step.slot] = database.instant()
        return
      case 'open':
        if (chains.length < MOST_CHAINS) chains.push(Chain.from(step.from, setting, step.request, at(step.snapshot)))
        return
      case 'fork': {
        const chain = chosen(step.chain)
        if (chain !== undefined && chains.length < MOST_CHAINS) chains.push(chain.fork())
        return
      }
      case 'read':
        chosen(step.chain)?.read(at(step.snapshot))
        return
      case 'mark':
        return database.mark()
      case 'prune':
        return database.prune(step.mark, step.batch)
      case 'compact':
        return database.compact(step.mark, step.remove)
    }
  }
  for (const step of schedule.steps) play(step)
  database.endAll()
  for (const chain of chains) chain.readToEnd()
}
