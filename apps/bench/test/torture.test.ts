import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { expect, test } from 'vitest'
import { kinds } from '../src/torture/kinds.ts'
import { runTorture } from '../src/torture/run-torture.ts'
import { FAULTLESS } from './support/small-run.ts'

/** Catching up takes as long as a busy machine needs. */
const TIMEOUT_MS = 180_000

test('ten seconds of torture lose, repeat and disorder nothing', { timeout: TIMEOUT_MS }, async () => {
  await using database = await createTestDatabase()
  // Another seed each time; a failure prints it with everything else the run found.
  const seed = 1 + Math.floor(Math.random() * 2 ** 31)
  const report = await runTorture({ url: database.url, seconds: 10, seed })
  expect(report.violations, JSON.stringify(report)).toEqual([])
  expect(report).toMatchObject(FAULTLESS)
  expect(report.chainsComplete).toBe(report.chains)
  expect(kinds.filter((kind) => report[kind] === 0)).toEqual([])
})

test('the same torture finds what "id > cursor" loses', { timeout: TIMEOUT_MS }, async () => {
  await using database = await createTestDatabase()
  const report = await runTorture({ url: database.url, seconds: 4, seed: 7, flaw: 'id-only' })
  expect(report.missed).toBeGreaterThan(0)
  expect(report.replicaFaults).toBeGreaterThan(0)
  expect(report.replicaDiffers).toBeGreaterThan(0)
  expect(report.violations).toContain(`missed: ${report.missed}`)
})
