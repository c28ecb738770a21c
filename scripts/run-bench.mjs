// @ts-check
// Measurements and torture runs: `pnpm bench <name> [flags]`, `pnpm torture [flags]`; with `--json` the last line is the result.
import { join } from 'node:path'
import { root, run, sourceFlags } from './lib/process.mjs'

process.exitCode = await run(process.execPath, [...sourceFlags, 'src/main.ts', ...process.argv.slice(2)], {
  cwd: join(root, 'apps', 'bench'),
})
