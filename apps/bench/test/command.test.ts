import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function bench(...args: readonly string[]): Promise<Outcome> {
  const node = ['--conditions=@tidemark/source', '--import', 'tsx', 'src/main.ts', ...args]
  const env = { ...process.env, TEST_DATABASE_URL: inject('pgUrl'), NODE_OPTIONS: '' }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, node, { cwd: folder, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

function lastLine({ stdout }: Outcome): unknown {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}

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
  expect(report).toMatchObject({ partitioned: 'refused', rows: 10_000, pairs: 1 })
})
