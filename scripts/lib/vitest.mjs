// @ts-check
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, vitestEntry } from './process.mjs'
import { readTotals } from './report.mjs'

/** @typedef {import('./report.mjs').Totals} Totals */

/**
 * One vitest run. Its JSON report stays at `.local/reports/<name>.json`.
 *
 * @param {string} name
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<Totals>}
 */
export async function runVitest(name, args, env) {
  const reports = join(root, '.local', 'reports')
  const file = join(reports, `${name}.json`)
  mkdirSync(reports, { recursive: true })
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const code = await run(process.execPath, [vitestEntry(), 'run', ...reporters, ...args], {
    env: { TZ: 'UTC', ...env },
  })
  return readTotals(file, code)
}

/**
 * One line for people, and the names of what did not run.
 *
 * @param {string} title
 * @param {Totals} totals
 */
export function printTotals(title, { passed, failed, skipped, files }) {
  console.log(`\n${title}: ${passed} passed, ${failed} failed, ${skipped.length} skipped, in ${files} files`)
  for (const name of skipped) console.log(`  skipped: ${name}`)
}
