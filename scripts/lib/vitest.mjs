// @ts-check
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root, run, vitestEntry } from './process.mjs'

/**
 * @typedef {object} Totals
 * @property {number} passed
 * @property {number} failed   tests that failed, files that did not load, and at least 1 when the run failed otherwise
 * @property {readonly string[]} skipped   full names
 * @property {number} files
 */

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
 * Reads a report; a run that ended badly never counts as 0 failed.
 *
 * @param {string} file
 * @param {number} code
 * @returns {Totals}
 */
export function readTotals(file, code) {
  /** @type {Report} */
  let report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, skipped: [], files: 0 }
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const passed = tests.filter(({ status }) => status === 'passed').length
  const failedTests = tests.filter(({ status }) => status === 'failed').length
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  ).length
  const failed = failedTests + brokenFiles
  const skipped = tests
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName)
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed, skipped, files: report.testResults.length }
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

/**
 * @param {string} path
 */
export function shown(path) {
  return relative(root, path)
}

/**
 * What is read of vitest's JSON report.
 * @typedef {{ testResults: readonly FileResult[] }} Report
 * @typedef {{ name: string, status: string, assertionResults: readonly { status: string, fullName: string }[] }} FileResult
 */
