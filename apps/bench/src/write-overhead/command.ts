import { availableParallelism } from 'node:os'
import pg from 'pg'
import type { Command } from '../cli/command.ts'
import { choiceFlag, numberFlag, readFlags, serverFlag, wholeFlag } from '../cli/flags.ts'
import { printResult, progress } from '../cli/output.ts'
import { withDatabase } from '../cli/with-server.ts'
import { type BulkReport, measureBulk } from './bulk.ts'
import { Load } from './load.ts'
import type { Workload } from './messages.ts'
import { measurePartitioned } from './partitioned.ts'
import { measureSingleRows, type SingleRowReport } from './single-rows.ts'
import { createTables, requireCapture } from './tables.ts'

const parts = ['update', 'hotTenant', 'bulk', 'insert', 'delete', 'partitioned'] as const

/** fsync stays on. No checkpoint and no autovacuum falls into a slice by itself: the run does both between slices. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  autovacuum: 'off',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  shared_buffers: '256MB',
}

/** `write-overhead`: what capture costs those who write. */
export const writeOverhead: Command = {
  usage: `write-overhead [--json] [--seconds 3] [--pairs 5] [--connections 8] [--rows 100000] [--only ${parts.join('|')}] [--server embedded|15|16|17|18]
  What capture costs writers: captured ÷ uncaptured, alternating slices of --seconds on one server, medians of --pairs.`,

  async run(args) {
    const flags = readFlags(args, ['seconds', 'pairs', 'connections', 'rows', 'only', 'server'], ['json'])
    const ms = numberFlag(flags, 'seconds', 3, 0.2, 60) * 1000
    const pairs = wholeFlag(flags, 'pairs', 5, 1, 50)
    const connections = wholeFlag(flags, 'connections', 8, 1, 64)
    const rows = wholeFlag(flags, 'rows', 100_000, 10_000, 10_000_000)
    const only = choiceFlag(flags, 'only', parts)
    const version = serverFlag(flags)

    const result = await withDatabase(version, SETTINGS, async ({ url, ownServer }) => {
      const admin = await connect(url)
      try {
        let written = 0
        const wrote = (n: number): void => void (written += n)
        progress(`filling three tables of ${rows} rows`)
        await createTables(admin, url, rows)
        await using load = await Load.start({ url, connections, readServerCpu: ownServer })
        const single = async (workload: Workload, of: number, control: boolean): Promise<SingleRowReport | null> =>
          only !== undefined && only !== workload
            ? null
            : await measureSingleRows(admin, load, availableParallelism(), {
                workload,
                rows,
                pairs: of,
                ms,
                control,
                wrote,
              })
        const update = await single('update', pairs, true)
        const hotTenant = await single('hotTenant', pairs, true)
        const bulk =
          only !== undefined && only !== 'bulk'
            ? null
            : await measureBulk(admin, url, { rows, pairs: pairs * 2, wrote }, connect)
        const fewer = Math.min(pairs, 3)
        const insert = await single('insert', fewer, false)
        const remove = await single('delete', fewer, false)
        await requireCapture(admin, written)
        const partitioned =
          only !== undefined && only !== 'partitioned' ? null : await measurePartitioned(admin, url, pairs, connect)
        return {
          ...summary(update, hotTenant, bulk, insert, remove),
          partitioned,
          ...(await conditions(admin)),
          pairs,
          sliceSeconds: ms / 1000,
          connections,
          rows,
        }
      } finally {
        await admin.end()
      }
    })
    printResult(result, flags['json'] === true)
    return 0
  },
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The next query fails when the connection has broken; unheard, the event would end the process before.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The three figures first, then what helps to judge them. Parts left out by `--only` are `null`. */
function summary(
  update: SingleRowReport | null,
  hotTenant: SingleRowReport | null,
  bulk: BulkReport | null,
  insert: SingleRowReport | null,
  remove: SingleRowReport | null,
): Record<string, unknown> {
  const shares = [update, hotTenant, insert, remove].flatMap((report) =>
    report === null ? [] : [report.clientCpuShare],
  )
  return {
    ratio: update?.ratio ?? null,
    hotTenantRatio: hotTenant?.ratio ?? null,
    bulkRatio: bulk?.update ?? null,
    controlRatio: update?.controlRatio ?? null,
    hotTenantControlRatio: hotTenant?.controlRatio ?? null,
    bulkControlRatio: bulk?.updateControl ?? null,
    insertRatio: insert?.ratio ?? null,
    deleteRatio: remove?.ratio ?? null,
    bulkInsertRatio: bulk?.insert ?? null,
    bulkDeleteRatio: bulk?.delete ?? null,
    hotUpdateShare: update?.hotShare ?? null,
    clientCpuShare: shares.length === 0 ? null : Math.max(...shares),
    ratios: update?.ratios ?? null,
    controlRatios: update?.controlRatios ?? null,
    hotTenantRatios: hotTenant?.ratios ?? null,
    hotTenantControlRatios: hotTenant?.controlRatios ?? null,
    bulkRatios: bulk?.updateRatios ?? null,
    tps: { update: update?.tps, hotTenant: hotTenant?.tps, insert: insert?.tps, delete: remove?.tps },
    serverCpuUs: {
      update: update?.serverCpuUs,
      hotTenant: hotTenant?.serverCpuUs,
      insert: insert?.serverCpuUs,
      delete: remove?.serverCpuUs,
    },
    bulkMs: bulk?.ms ?? null,
  }
}

async function conditions(admin: pg.Client): Promise<Record<string, unknown>> {
  const { rows } = await admin.query<{ version: string; fsync: string; synchronous: string }>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous`,
  )
  return { server: rows[0]?.version, fsync: rows[0]?.fsync, synchronousCommit: rows[0]?.synchronous }
}
