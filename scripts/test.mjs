// @ts-check
// Everything npm alone can bring: `pnpm test [arguments of vitest]`.
import { findFiles } from './lib/files.mjs'
import { printTotals, runVitest } from './lib/vitest.mjs'

const args = process.argv.slice(2)
const server = process.env.TEST_DATABASE_URL
  ? 'the server of TEST_DATABASE_URL'
  : process.env.TIDEMARK_TEST_PG && process.env.TIDEMARK_TEST_PG !== 'embedded'
    ? `Postgres ${process.env.TIDEMARK_TEST_PG} of the system`
    : 'Postgres 18 (embedded)'

const totals = await runVitest('test', args, { TIDEMARK_SUITE: '' })
printTotals(`Tests on ${server} and PGlite`, totals)

console.log('\nNot covered by this command, because it needs programs of the system (`pnpm test:systems`):')
console.log('  - the database suites on Postgres 15')
for (const file of findFiles(/\.systems\.test\.tsx?$/)) console.log(`  - ${file}`)

if (totals.failed > 0 || totals.passed === 0) process.exitCode = 1
