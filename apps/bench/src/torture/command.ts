import { randomInt } from 'node:crypto'
import type { Command } from '../cli/command.ts'
import { choiceFlag, numberFlag, readFlags, serverFlag, wholeFlag } from '../cli/flags.ts'
import { printResult, progress } from '../cli/output.ts'
import { withDatabase } from '../cli/with-server.ts'
import { flaws } from './broken-readers.ts'
import { runTorture } from './run-torture.ts'

/** `torture`: whether every change arrives, once and in order, whatever writers do. */
export const torture: Command = {
  usage: `torture [--json] [--seconds 10] [--seed N] [--server embedded|15|16|17|18] [--broken ${flaws.join('|')}]
  Writers against readers for --seconds: every change must arrive once and in order, and replicas built from them must equal the
  tables. Exit code 1 when one did not, or when something that writers do never happened. The user of TEST_DATABASE_URL must be a superuser.
  --broken reads with a reader that is known to be wrong and counts what it loses; exit code 0.`,

  async run(args) {
    const flags = readFlags(args, ['seconds', 'seed', 'server', 'broken'], ['json'])
    const seconds = numberFlag(flags, 'seconds', 10, 4, 3600)
    const seed = wholeFlag(flags, 'seed', randomInt(1, 2 ** 31), 1, 2 ** 31)
    const flaw = choiceFlag(flags, 'broken', flaws)
    const version = serverFlag(flags)
    progress(`seed ${seed}`)
    // Nothing survives the run, so nothing need survive a crash: more happens in the same time.
    const report = await withDatabase(version, { fsync: 'off' }, ({ url }) =>
      runTorture({ url, seconds, seed, log: progress, ...(flaw === undefined ? {} : { flaw }) }),
    )
    if (flaw === undefined) for (const violation of report.violations) progress(`VIOLATION ${violation}`)
    printResult({ ...report }, flags['json'] === true)
    return flaw === undefined && report.violations.length > 0 ? 1 : 0
  },
}
