// @ts-check
// Builds the demo's page, then runs its server until it is stopped: `pnpm demo`.
import { join } from 'node:path'
import { root, run, sourceFlags, tool } from './lib/process.mjs'

// Only the page is built: the server runs the packages from their sources. Unchanged sources are not built again.
const built = await run(tool('turbo'), ['run', 'build', '--filter=@tidemark/demo', '--output-logs=errors-only'], {
  env: { TURBO_TELEMETRY_DISABLED: '1' },
})
process.exitCode =
  built !== 0
    ? built
    : await run(process.execPath, [...sourceFlags, 'src/server/main.ts', ...process.argv.slice(2)], {
        cwd: join(root, 'apps', 'demo'),
      })
