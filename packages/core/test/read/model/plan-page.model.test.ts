import fc from 'fast-check'
import { expect, it } from 'vitest'
import { production } from './planner.ts'
import { runSchedule } from './run-schedule.ts'
import { writersAndReaders } from './schedule.ts'
import { MODEL_TIMEOUT, RUNS, SEED } from './settings.ts'
import { noVisits, tooSeldom } from './visits.ts'

// The production planner over a simulated log: transactions begin, append and end in any order, readers read in between, in new and in old snapshots,
// with pages so small that they are cut in every way. What a chain must have been given, when and in which order, is checked in `chain.ts`.

it('delivers every committed key once to every reader, in every schedule', { timeout: MODEL_TIMEOUT }, () => {
  const visits = noVisits()
  fc.assert(
    fc.property(writersAndReaders, (schedule) => runSchedule(schedule, production, visits)),
    { seed: SEED, numRuns: RUNS },
  )
  expect(tooSeldom(visits, RUNS, false)).toEqual({})
})
