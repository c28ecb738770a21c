import { unsettledIn } from '../../../src/cursor/snapshot.ts'
import { headCursor, oldestCursor, planPage } from '../../../src/read/plan-page.ts'

/** What the model runs: the planner of `src`, or a mutant of it. */
export interface Planner {
  readonly planPage: typeof planPage
  readonly headCursor: typeof headCursor
  readonly oldestCursor: typeof oldestCursor
  readonly unsettledIn: typeof unsettledIn
}

export const production: Planner = { planPage, headCursor, oldestCursor, unsettledIn }
