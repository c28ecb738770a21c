// @ts-check
// Checks the packages as their users get them: `pnpm check:packages`.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkConsumer } from './lib/check-consumer.mjs'
import { checkExports } from './lib/check-exports.mjs'
import { checkTarball } from './lib/check-tarball.mjs'
import { capture, root, tool } from './lib/process.mjs'

/**
 * A check gives nothing when all is well, else what is wrong.
 * @typedef {() => Promise<string | undefined>} Check
 */

const packages = readdirSync(join(root, 'packages')).map((name) => ({ name, folder: join(root, 'packages', name) }))
const temp = mkdtempSync(join(tmpdir(), 'tidemark-packages-'))
/** @type {{ status: 'passed' | 'failed', fullName: string }[]} */
const results = []

try {
  const built = await check('build', () =>
    program(tool('turbo'), ['run', 'build', '--filter=./packages/*', '--output-logs=errors-only']),
  )
  await check('knip: nothing unused, nothing undeclared', () => program(tool('knip'), []))
  /** @type {string[]} */
  const tarballs = []
  for (const { name, folder } of packages) {
    await check(`${name}: manifest, published manifest, build entries and files agree`, () =>
      checkExports(folder, built),
    )
    if (!built) continue
    await check(`${name}: publint`, () => program(tool('publint'), ['--strict', '--pack', 'pnpm'], folder))
    await check(`${name}: tarball`, async () => {
      const { problem, file } = await checkTarball(folder, temp)
      if (file !== undefined) tarballs.push(file)
      return problem
    })
  }
  for (const file of tarballs)
    await check(`${file.split('/').at(-1)}: types resolve`, () =>
      program(tool('attw'), [file, '--profile', 'esm-only']),
    )
  for (const { title, run } of checkConsumer(temp, tarballs, packages.length)) await check(`consumer: ${title}`, run)
} finally {
  rmSync(temp, { recursive: true, force: true })
}

// In the shape of vitest's report, so that there is one way to count.
const failed = results.filter(({ status }) => status === 'failed').length
const report = {
  testResults: [{ name: 'packages', status: failed === 0 ? 'passed' : 'failed', assertionResults: results }],
}
mkdirSync(join(root, '.local', 'reports'), { recursive: true })
writeFileSync(join(root, '.local', 'reports', 'packages.json'), JSON.stringify(report))
console.log(`\nPackage checks: ${results.length - failed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1

/**
 * @param {string} title
 * @param {Check} run
 * @returns {Promise<boolean>}
 */
async function check(title, run) {
  const problem = await run().catch((error) => String(error instanceof Error ? (error.stack ?? error.message) : error))
  results.push({ status: problem === undefined ? 'passed' : 'failed', fullName: title })
  console.log(`${problem === undefined ? 'ok  ' : 'FAIL'} ${title}`)
  if (problem !== undefined) console.log(problem.replaceAll(/^/gm, '       '))
  return problem === undefined
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} [cwd]
 */
async function program(command, args, cwd = root) {
  const { code, output } = await capture(command, args, {
    cwd,
    env: { TURBO_TELEMETRY_DISABLED: '1', NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  return code === 0 ? undefined : output.trim() || `exit code ${code}`
}
