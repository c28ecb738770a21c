import { readFileSync } from 'node:fs'
import { UsageError } from '../cli/flags.ts'
import { FILLER, SCOPES, TENANTS } from '../cli/bench-table.ts'
import { WireClient } from '../write-overhead/wire-client.ts'

/** What is done to a table, each in a transaction of its own. */
export const workloads = ['update', 'bulkUpdate', 'insert'] as const
export type Workload = (typeof workloads)[number]

export const ROWS_PER_STATEMENT = 10_000
/** Far above the rows that stay. */
const SPARE_IDS = 10_000_000

/** One session and the CPU time of the server's process behind it. Nothing else runs in that process. */
export class Backend implements AsyncDisposable {
  readonly #client: WireClient
  readonly #rows: number
  /** Rows written, by table. */
  readonly written: Map<string, number> = new Map()
  /** Makes each written text a new one: an update that changes nothing is not captured. */
  #stamp = 0
  #nextId = SPARE_IDS

  private constructor(client: WireClient, rows: number) {
    this.#client = client
    this.#rows = rows
  }

  static async connect(url: string, rows: number): Promise<Backend> {
    const client = await WireClient.connect(url)
    // Elsewhere the number is some other process's, or no one's.
    if (readCommand(client.serverPid).startsWith('postgres')) return new Backend(client, rows)
    await client.end()
    throw new UsageError(
      'write-parts reads the CPU of a server process in /proc: it needs Linux, and a server on this machine',
    )
  }

  /** Microseconds of CPU since the process began; Linux only. */
  cpuUs(): number {
    return Number(readFileSync(`/proc/${this.#client.serverPid}/schedstat`, 'utf8').split(' ')[0]) / 1000
  }

  /** Microseconds of CPU for each of `count` transactions. */
  async measure(workload: Workload, table: string, count: number): Promise<number> {
    const before = this.cpuUs()
    for (let i = 0; i < count; i++) await this.write(workload, table, i)
    return (this.cpuUs() - before) / count
  }

  /** One transaction. The `turn`th bulk update takes the `turn`th range of rows. */
  async write(workload: Workload, table: string, turn: number): Promise<void> {
    this.#stamp += 1
    const name = `${table}_${workload}`
    const expected = workload === 'bulkUpdate' ? ROWS_PER_STATEMENT : 1
    const affected = await this.#send(workload, name, table, turn)
    this.written.set(table, (this.written.get(table) ?? 0) + expected)
    if (affected !== expected) throw new Error(`${workload} of ${table} wrote ${affected} rows, not ${expected}`)
  }

  #send(workload: Workload, name: string, table: string, turn: number): Promise<number> {
    switch (workload) {
      case 'update': {
        const id = 1 + Math.floor(Math.random() * this.#rows)
        return this.#client.execute(name, `update ${table} set title = $1 where id = $2`, [
          `title number ${this.#stamp} of row ${id}`,
          String(id),
        ])
      }
      case 'insert': {
        const id = this.#nextId++
        return this.#client.execute(
          name,
          `insert into ${table} (id, tenant_id, project_id, title, body) values ($1, $2, $3, $4, $5)`,
          [
            String(id),
            String(id % TENANTS),
            String(Math.floor(id / TENANTS) % SCOPES),
            `first title of row ${id}`,
            FILLER,
          ],
        )
      }
      case 'bulkUpdate': {
        const first = 1 + turn * ROWS_PER_STATEMENT
        return this.#client.execute(name, `update ${table} set title = title || '.' where id between $1 and $2`, [
          String(first),
          String(first + ROWS_PER_STATEMENT - 1),
        ])
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
