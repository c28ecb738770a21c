// @ts-check
import { readFileSync } from 'node:fs'

/**
 * @typedef {object} Totals
 * @property {number} passed
 * @property {number} failed   tests that failed, files that did not load, and at least 1 when the run failed otherwise
 * @property {readonly string[]} skipped   full names
 * @property {number} files
 */

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
 * What is read of vitest's JSON report.
 * @typedef {{ testResults: readonly FileResult[] }} Report
 * @typedef {{ name: string, status: string, assertionResults: readonly { status: string, fullName: string }[] }} FileResult
 */
