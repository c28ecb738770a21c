import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc, { type RunDetails } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrokenPromise } from './broken-promise.ts'
import { buildPlanner } from './build-mutant.ts'
import { mutants } from './mutants.ts'
import type { Planner } from './planner.ts'
import { runSchedule } from './run-schedule.ts'
import { anySchedule, type Schedule } from './schedule.ts'
import { noVisits } from './visits.ts'

// The check of the check: the model must find each of these defects in the planner's source, and none in the source as it is, built in the same way.

const SCHEDULES = 3000
/** Fixed, whatever the models are told to use: whether a mutant is found must not be a matter of luck. */
const SEED = 3

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-mutants-'))
})
afterAll(() => rm(folder, { recursive: true }))

function model(planner: Planner): RunDetails<[Schedule]> {
  const visits = noVisits()
  const property = fc.property(anySchedule, (schedule) => runSchedule(schedule, planner, visits))
  return fc.check(property, { seed: SEED, numRuns: SCHEDULES, endOnFailure: true })
}

describe('the model', () => {
  it('finds nothing in the source as it is', { timeout: 120_000 }, async () => {
    expect(model(await buildPlanner(join(folder, 'original'), null)).failed).toBe(false)
  })

  for (const [number, mutant] of mutants.entries()) {
    it(`finds: ${mutant.name}`, { timeout: 120_000 }, async ({ annotate }) => {
      const { failed, numRuns, errorInstance } = model(await buildPlanner(join(folder, String(number)), mutant))
      expect(failed, `${SCHEDULES} schedules do not show that ${mutant.why}`).toBe(true)
      expect(errorInstance).toBeInstanceOf(BrokenPromise)
      await annotate(`after ${numRuns} schedules: ${(errorInstance as BrokenPromise).message}`)
    })
  }

  it('knows each mutant by its own name', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  })
})
