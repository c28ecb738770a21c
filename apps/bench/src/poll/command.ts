import { createTestDatabase } from '@tidemark/local-postgres'
import pg from 'pg'
import type { Command } from '../cli/command.ts'
import { readFlags, serverFlag, wholeFlag } from '../cli/flags.ts'
import { printResult, progress } from '../cli/output.ts'
import { withDatabase } from '../cli/with-server.ts'
import { type Measured, measure } from './measure.ts'
import { SizedFeed } from './sized-feed.ts'

/** Nothing but the reads happens while they are measured: the run vacuums by itself. Nothing survives it, so nothing need survive a crash. */
const SETTINGS = {
  fsync: 'off',
  autovacuum: 'off',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  shared_buffers: '512MB',
}

/** `poll`: what a read costs that finds nothing new, and whether it grows with the log. */
export const poll: Command = {
  usage: `poll [--json] [--entries 1000000] [--small 10000] [--reads 300] [--server embedded|15|16|17|18]
  What a caught-up read costs in a log of --entries, and how many times one in a log of --small; a page behind as many beside it.`,

  async run(args) {
    const flags = readFlags(args, ['entries', 'small', 'reads', 'server'], ['json'])
    const entries = wholeFlag(flags, 'entries', 1_000_000, 2_000, 100_000_000)
    const small = wholeFlag(flags, 'small', 10_000, 1_000, entries / 2)
    const reads = wholeFlag(flags, 'reads', 300, 20, 100_000)
    const version = serverFlag(flags)

    const result = await withDatabase(version, SETTINGS, async ({ url }) => {
      await using smallDatabase = await createTestDatabase(url)
      await using smallFeed = await SizedFeed.fill(smallDatabase.url, small, small / 10)
      await using largeFeed = await SizedFeed.fill(url, entries, small)
      progress(`${reads} reads of each kind`)
      const measured = await measure({ large: largeFeed, small: smallFeed }, reads)
      return {
        ...summary(measured),
        entries: { large: largeFeed.entries, small: smallFeed.entries },
        reads,
        server: await serverVersion(url),
      }
    })
    printResult(result, flags['json'] === true)
    return 0
  },
}

/** The figures as `readChanges` causes them first; then the same under other conditions. */
function summary({ quiet, busy, behind, roundTripMs, scans }: Measured): Record<string, unknown> {
  const { pollMs, growth, planningMs, planningGrowth, buffers } = quiet.custom
  return {
    pollMs,
    growth,
    planningMs,
    planningGrowth,
    roundTripMs,
    buffers,
    behindRatio: behind.custom.buffers.ratio,
    generic: quiet.generic,
    busy,
    behind,
    scans,
  }
}

async function serverVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`)
    return rows[0]?.version ?? ''
  } finally {
    await client.end()
  }
}
