import fc from 'fast-check'
import { expect, it } from 'vitest'
import { production } from './planner.ts'
import { runSchedule } from './run-schedule.ts'
import { withRetention } from './schedule.ts'
import { MODEL_TIMEOUT, RUNS, SEED } from './settings.ts'
import { noVisits, tooSeldom } from './visits.ts'

// The same with marks, pruning below them that raises each tenant's floor, and compaction that blanks keys or takes entries out.

it(
  'loses nothing by pruning and compaction without saying so, and says so only then',
  { timeout: MODEL_TIMEOUT },
  () => {
    const visits = noVisits()
    fc.assert(
      fc.property(withRetention, (schedule) => runSchedule(schedule, production, visits)),
      { seed: SEED, numRuns: RUNS },
    )
    expect(tooSeldom(visits, RUNS, true)).toEqual({})
  },
)
