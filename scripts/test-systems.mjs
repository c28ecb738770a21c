// @ts-check
// What needs programs of the system: `pnpm test:systems [arguments of vitest]`. A missing program is a failure.
import { missingPrograms } from './lib/programs.mjs'
import { printTotals, runVitest } from './lib/vitest.mjs'

const missing = missingPrograms()
if (missing.length > 0) {
  for (const { what, looked } of missing) console.error(`Missing: ${what} (looked for ${looked.join(', ')})`)
  console.error(`\nOn Debian or Ubuntu: apt-get install ${missing.map(({ aptPackage }) => aptPackage).join(' ')}`)
  process.exit(1)
}

const totals = await runVitest('systems', process.argv.slice(2), {
  TIDEMARK_SUITE: 'systems',
  TIDEMARK_TEST_PG: '15',
  TEST_DATABASE_URL: '',
})
printTotals('Tests on Postgres 15 of the system, and with Chromium', totals)
if (totals.failed > 0 || totals.passed === 0) process.exitCode = 1
