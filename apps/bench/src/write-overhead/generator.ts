import { readFileSync } from 'node:fs'
import type { Reply, Request, Slice, SliceResult } from './messages.ts'
import { FILLER, SCOPES, TENANTS } from '../cli/bench-table.ts'
import { WireClient } from './wire-client.ts'

/*
 * The load generator, a process of its own: what it costs in CPU is then known, and the parent's work never delays it. Its connections stay
 * open for the whole run, so that plans are cached as in an app with a pool.
 */

let clients: WireClient[] = []
let serverPids: number[] = []
/** Makes each written text a new one: an update that changes nothing is not captured. */
let stamp = 0

process.on('message', (request: Request) => {
  handle(request).then(
    (reply) => process.send?.(reply),
    (error: unknown) =>
      process.send?.({ kind: 'failed', message: String((error as Error).stack ?? error) } satisfies Reply),
  )
})
process.on('disconnect', () => process.exit(0))

async function handle(request: Request): Promise<Reply> {
  switch (request.kind) {
    case 'open':
      clients = await Promise.all(Array.from({ length: request.connections }, () => WireClient.connect(request.url)))
      serverPids = request.readServerCpu ? clients.map(({ serverPid }) => serverPid) : []
      return { kind: 'done' }
    case 'run':
      return { kind: 'result', result: await run(request.slice) }
    case 'close':
      await Promise.all(clients.map((client) => client.end()))
      return { kind: 'done' }
  }
}

async function run(slice: Slice): Promise<SliceResult> {
  const warm = await load(slice, slice.warmupMs)
  const server = serverCpu()
  const client = process.cpuUsage()
  const start = performance.now()
  const transactions = await load(slice, slice.ms)
  const elapsedMs = performance.now() - start
  const used = process.cpuUsage(client)
  const after = serverCpu()
  return {
    transactions,
    allTransactions: warm + transactions,
    elapsedMs,
    clientCpuMs: (used.user + used.system) / 1000,
    serverCpuMs: server === null || after === null ? null : after - server,
  }
}

/** Next id for an insert or delete, by the slices that go on with one another. All connections share it. */
const nextIds = new Map<string, number>()

function nextId({ workload, table, firstId }: Slice): number {
  const name = `${workload} ${table} ${firstId}`
  const id = nextIds.get(name) ?? firstId
  nextIds.set(name, id + 1)
  return id
}

async function load(slice: Slice, ms: number): Promise<number> {
  const until = performance.now() + ms
  const done = await Promise.all(
    clients.map(async (client, c) => {
      let transactions = 0
      while (performance.now() < until) {
        const affected = await writeOne(client, slice, c)
        if (affected !== 1) throw new Error(`${slice.workload} of ${slice.table} wrote ${affected} rows, not 1`)
        transactions += 1
      }
      return transactions
    }),
  )
  return done.reduce((total, n) => total + n, 0)
}

/** One row in one transaction of its own, as a prepared statement. */
function writeOne(client: WireClient, slice: Slice, c: number): Promise<number> {
  const { workload, table, rows } = slice
  const name = `${table}_${workload}`
  stamp += 1
  switch (workload) {
    case 'update':
      return update(client, name, table, 1 + Math.floor(Math.random() * rows))
    case 'hotTenant': {
      // Rows of one tenant, each connection its own share of them.
      const share = Math.floor(rows / TENANTS / clients.length)
      return update(client, name, table, 7 + TENANTS * (c + clients.length * Math.floor(Math.random() * share)))
    }
    case 'insert': {
      const id = nextId(slice)
      const scope = Math.floor(id / TENANTS) % SCOPES
      return client.execute(
        name,
        `insert into ${table} (id, tenant_id, project_id, title, body) values ($1, $2, $3, $4, $5)`,
        [String(id), String(id % TENANTS), String(scope), `first title of row ${id}`, FILLER],
      )
    }
    case 'delete':
      return client.execute(name, `delete from ${table} where id = $1`, [String(nextId(slice))])
  }
}

function update(client: WireClient, name: string, table: string, id: number): Promise<number> {
  return client.execute(name, `update ${table} set title = $1 where id = $2`, [
    `title number ${stamp} of row ${id}`,
    String(id),
  ])
}

/** CPU time of the server processes behind the connections, in milliseconds; Linux only. */
function serverCpu(): number | null {
  if (serverPids.length === 0) return null
  try {
    return serverPids.reduce(
      (total, pid) => total + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
      0,
    )
  } catch {
    return null
  }
}
