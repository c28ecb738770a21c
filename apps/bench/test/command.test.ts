import { expect, test } from 'vitest'
import { bench, lastLine } from './support/run-bench.ts'

test.each([
  [[], 'name a run'],
  [['tortue'], 'there is no run "tortue"'],
  [['toString'], 'there is no run "toString"'],
  [['torture', '--second', '3'], '--second'],
  [['torture', '--seconds', 'ten'], '--seconds must be a number from 4 to 3600'],
  [['torture', '--broken', 'all'], '--broken must be one of'],
  [['torture', 'more'], 'more'],
  [['write-overhead', '--pairs', '2.5'], '--pairs must be a whole number'],
  [['write-overhead', '--server', '9'], '--server must be one of'],
  [['poll', '--reads', '3'], '--reads must be a number from 20 to 100000'],
  [['poll', '--entries', '4000', '--small', '3000'], '--small must be a number from 1000 to 2000'],
  [['write-parts', '--only', 'delete'], '--only must be one of update, bulkUpdate, insert'],
])('answers %j with its usage and exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await bench(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).toContain('Usage: pnpm bench <name> [flags]')
})

test('torture --json ends with one line of JSON, the figures that matter first', { timeout: 180_000 }, async () => {
  const outcome = await bench('torture', '--seconds', '5', '--json', '--seed', '42')
  expect(outcome.code, outcome.stderr).toBe(0)
  const report = lastLine(outcome) as Record<string, unknown>
  expect(Object.keys(report).slice(0, 5)).toEqual(['changes', 'deliveries', 'missed', 'repeated', 'outOfOrder'])
  expect(report).toMatchObject({ missed: 0, repeated: 0, outOfOrder: 0, seed: 42 })
  expect(outcome.stderr).toContain('seed 42')
})

test('write-overhead --json ends with one line of JSON, the three ratios first', { timeout: 180_000 }, async () => {
  // The smallest run there is: whether the figures are good is asked of a quiet machine, not of a test.
  const outcome = await bench('write-overhead', '--json', '--seconds', '0.2', '--pairs', '1', '--rows', '10000')
  expect(outcome.code, outcome.stderr).toBe(0)
  const report = lastLine(outcome) as Record<string, unknown>
  expect(Object.keys(report).slice(0, 3)).toEqual(['ratio', 'hotTenantRatio', 'bulkRatio'])
  for (const name of ['ratio', 'hotTenantRatio', 'bulkRatio', 'controlRatio', 'insertRatio', 'deleteRatio']) {
    expect(report[name], name).toBeGreaterThan(0)
  }
  expect(report).toMatchObject({ rows: 10_000, pairs: 1 })
  for (const statement of ['insert', 'update', 'delete'])
    expect((report['partitioned'] as Record<string, { ratio: number }>)[statement]?.ratio).toBeGreaterThan(0)
})
