import pg from 'pg'
import type { Command } from '../cli/command.ts'
import { choiceFlag, readFlags, serverFlag, wholeFlag } from '../cli/flags.ts'
import { printResult, progress } from '../cli/output.ts'
import { withDatabase } from '../cli/with-server.ts'
import { Backend, ROWS_PER_STATEMENT, workloads } from './backend.ts'
import { forPeople, reportOf, type WorkloadReport } from './report.ts'
import { runRounds } from './rounds.ts'
import { createVariants, requireEntries } from './tables.ts'

/** What capture adds must not hide behind the commit's wait, and nothing else happens by itself. Nothing survives the run. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  shared_buffers: '1GB',
}

/** `write-parts`: where the CPU goes that capture costs a writer. */
export const writeParts: Command = {
  usage: `write-parts [--json] [--rounds 160] [--transactions 60] [--rows 50000] [--log-entries 100000] [--only ${workloads.join('|')}] [--server embedded|15|16|17|18]
  CPU of the server's process for one write, part by part: tables captured with one more part each take turns. Linux only.`,

  async run(args) {
    const flags = readFlags(args, ['rounds', 'transactions', 'rows', 'log-entries', 'only', 'server'], ['json'])
    const rounds = wholeFlag(flags, 'rounds', 160, 4, 10_000)
    const transactions = wholeFlag(flags, 'transactions', 60, 10, 10_000)
    const rows = wholeFlag(flags, 'rows', 50_000, ROWS_PER_STATEMENT, 1_000_000)
    const logEntries = wholeFlag(flags, 'log-entries', 100_000, 0, 100_000_000)
    const only = choiceFlag(flags, 'only', workloads)
    const json = flags['json'] === true

    const result = await withDatabase(serverFlag(flags), SETTINGS, async ({ url }) => {
      const admin = new pg.Client({ connectionString: url })
      // The next query fails when the connection has broken; unheard, the event would end the process before.
      admin.on('error', () => {})
      await admin.connect()
      try {
        await using backend = await Backend.connect(url, rows)
        progress(`filling tables of ${rows} rows and logs of ${logEntries} entries`)
        const variants = await createVariants(admin, url, { rows, logEntries })
        const reports: Record<string, WorkloadReport | null> = {}
        for (const workload of workloads) {
          if (only !== undefined && only !== workload) {
            reports[workload] = null
            continue
          }
          const samples = await runRounds(admin, backend, variants, workload, { rows, rounds, transactions })
          reports[workload] = reportOf(samples, variants)
        }
        await requireEntries(admin, variants, backend.written)
        const { rows: versions } = await admin.query<{ version: string }>(
          `select current_setting('server_version') as version`,
        )
        return { reports, server: versions[0]?.version, rounds, transactions, rows, logEntries }
      } finally {
        await admin.end()
      }
    })
    const { reports, ...conditions } = result
    if (json) printResult({ ...reports, ...conditions }, true)
    else process.stdout.write(`${forPeople(reports)}\n${JSON.stringify(conditions)}\n`)
    return 0
  },
}
