import { expect, test } from 'vitest'
import { bench, lastLine } from './support/run-bench.ts'

interface PollFigures {
  readonly pollMs: number
  readonly growth: number
  readonly planningMs: number
  readonly buffers: { readonly large: number; readonly small: number }
}

interface PollResult extends PollFigures {
  readonly roundTripMs: { readonly large: number }
  readonly generic: PollFigures
  readonly busy: { readonly custom: PollFigures; readonly generic: PollFigures }
  readonly behindRatio: number
  readonly behind: { readonly custom: { readonly buffers: { readonly near: number; readonly ratio: number } } }
  readonly entries: { readonly large: number; readonly small: number }
  readonly scans: readonly string[]
}

// The smallest run there is: whether the times are good is asked of a quiet machine, not of a test.
test('poll --json ends with one line of JSON, the two figures first', { timeout: 180_000 }, async () => {
  const outcome = await bench('poll', '--json', '--entries', '4000', '--small', '1000', '--reads', '20')
  expect(outcome.code, outcome.stderr).toBe(0)
  const report = lastLine(outcome) as PollResult
  expect(Object.keys(report).slice(0, 2)).toEqual(['pollMs', 'growth'])
  expect(report.entries.small).toBeGreaterThan(1000)
  expect(report.entries.large).toBeGreaterThan(Math.max(4000, report.entries.small))
  for (const one of [report, report.generic, report.busy.custom, report.busy.generic]) {
    expect(one.pollMs).toBeGreaterThan(0)
    expect(one.planningMs).toBeGreaterThan(0)
    expect(one.growth).toBeGreaterThan(0)
    // A caught-up read touches a few pages of each index it looks into, and next to nothing else.
    expect(one.buffers.large).toBeGreaterThan(5)
    expect(one.buffers.large).toBeLessThan(100)
  }
  // Where transactions were open it also looks for theirs. On the tests' server there may always be some.
  expect(report.busy.custom.buffers.large).toBeGreaterThanOrEqual(report.buffers.large)
  expect(report.scans.join()).toContain('log_tenant_id')
  expect(report.scans.join()).toContain('log_xid_tenant')
  // A call is some round trips with the read among them, and a full page touches more than an empty one.
  expect(report.roundTripMs.large).toBeGreaterThan(report.pollMs)
  expect(report.behind.custom.buffers.near).toBeGreaterThan(report.buffers.large)
  expect(report.behindRatio).toBe(report.behind.custom.buffers.ratio)
})
