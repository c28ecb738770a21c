import { expect, test } from 'vitest'
import { bench, lastLine } from './support/run-bench.ts'

interface Difference {
  readonly us: number
  readonly low: number
  readonly high: number
}

interface PartsReport {
  readonly plainUs: number
  readonly capturedUs: number
  readonly added: Difference
  readonly parts: readonly (Difference & { readonly part: string })[]
  readonly control: Difference
  readonly drift: Difference
  readonly rowTriggers: Difference
}

// The smallest run there is: its parts are noise, but that capture costs something at all is not.
test('write-parts --json gives the parts of each kind of write, on Linux', { timeout: 180_000 }, async () => {
  const small = ['--rounds', '4', '--transactions', '40', '--rows', '10000', '--log-entries', '1000']
  const outcome = await bench('write-parts', '--json', ...small)
  if (process.platform !== 'linux') {
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('it needs Linux')
    return
  }
  expect(outcome.code, outcome.stderr).toBe(0)
  const result = lastLine(outcome) as Record<'update' | 'bulkUpdate' | 'insert', PartsReport>
  expect(Object.keys(result).slice(0, 3)).toEqual(['update', 'bulkUpdate', 'insert'])
  for (const report of [result.update, result.bulkUpdate, result.insert]) {
    expect(report.parts.map(({ part }) => part)).toEqual([
      'the trigger call, with its transition tables',
      'security definer',
      'the pinned search_path',
      "the check, and the entry's values",
      'the entry, in a log without an index',
      'index log_pkey',
      'index log_tenant_id',
      'index log_xid_tenant',
    ])
    for (const one of [...report.parts, report.control, report.drift]) expect(one.low).toBeLessThanOrEqual(one.high)
    expect(report.plainUs).toBeGreaterThan(0)
    expect(report.added.us).toBeGreaterThan(0)
    expect(report.rowTriggers.us).toBeGreaterThan(0)
    expect(report.capturedUs).toBeGreaterThan(report.plainUs)
  }
})
