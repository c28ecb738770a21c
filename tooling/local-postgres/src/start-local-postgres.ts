import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { findBinaries, type Binaries, type PostgresVersion } from './binaries.ts'
import { openCluster, placeDataDir, type Cluster } from './cluster.ts'
import { LocalPostgresError } from './errors.ts'
import { shutDown, stopLeftover, writeOwner } from './postmaster.ts'
import { findServerUser, idsOf, type ServerUser } from './server-user.ts'
import { startWatchdog } from './watchdog.ts'

const READY_TIMEOUT_MS = 60_000
const PORT_ATTEMPTS = 5
const LOG_FILE = 'tidemark-server.log'

const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No Unix socket: its path has a length limit, and the temp folder may not be writable for the server's user.
  unix_socket_directories: '',
  max_connections: '200',
  max_prepared_transactions: '64',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

/** What server is wanted. */
export interface LocalPostgresOptions {
  /** `'embedded'` (default) is Postgres 18 from npm; 15 to 18 are the system's, by default in `/usr/lib/postgresql/N/bin`. */
  readonly version?: PostgresVersion
  /** Folder of the cluster, created when it does not exist. Default: a new temp folder. */
  readonly dataDir?: string
  /** Port on 127.0.0.1, 1 to 65535. Default: a free one. */
  readonly port?: number
  /** Server settings on top of ours, for example `{ fsync: 'off' }`; fsync is on unless changed. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether the cluster stays on disk after `stop`. Default: true when `dataDir` is given, else false. */
  readonly persist?: boolean
  /** Further arguments of initdb, used only when the cluster is created. */
  readonly initdbArgs?: readonly string[]
}

/** A running server of our own. */
export interface LocalPostgres extends AsyncDisposable {
  /** Connection string of the superuser `postgres` to the database `postgres`. */
  readonly url: string
  readonly port: number
  /** Major version. */
  readonly major: number
  /** Process id of the postmaster. */
  readonly pid: number
  /** Where the cluster really lies; differs from what was asked if the server's user could not reach that. */
  readonly dataDir: string
  /** The server's log of this run. */
  readonly logFile: string
  /** Ends sessions, stops the server and removes the cluster unless it persists. May be called again. */
  stop(): Promise<void>
}

/**
 * Starts a Postgres server that listens on 127.0.0.1 only, and waits until it answers (1 to 2 s for a new cluster).
 * As root it runs as `postgres` or `nobody`. It never outlives this process, and does not keep it alive either.
 * A server left over on `dataDir` by a process that died is stopped first.
 *
 * @throws LocalPostgresError with a code and what to do.
 *
 * @example
 * await using server = await startLocalPostgres({ settings: { fsync: 'off' } })
 * const pool = new pg.Pool({ connectionString: server.url })
 */
export async function startLocalPostgres(options: LocalPostgresOptions = {}): Promise<LocalPostgres> {
  const { port, settings, persist = options.dataDir !== undefined } = options
  if (port !== undefined && (!Number.isInteger(port) || port < 1 || port > 65_535)) {
    throw new LocalPostgresError(
      'INVALID_OPTION',
      `"port" must be a whole number from 1 to 65535, not ${port}. Leave it out for a free port.`,
    )
  }
  if (process.platform === 'win32') {
    throw new LocalPostgresError(
      'PLATFORM_UNSUPPORTED',
      'A local Postgres is not started on Windows. Use WSL, or name a running server (TEST_DATABASE_URL, DATABASE_URL).',
    )
  }
  const user = findServerUser()
  const binaries = await findBinaries(options.version ?? 'embedded', user)
  const dataDir = await placeDataDir(options.dataDir, user)
  const temporary = options.dataDir === undefined ? dirname(dataDir) : dataDir
  const remove = persist ? '' : temporary
  try {
    await stopLeftover(dataDir)
    const cluster = await openCluster(dataDir, binaries, user, [
      ...(persist ? [] : ['--no-sync']),
      ...(options.initdbArgs ?? []),
    ])
    if (!persist && !cluster.created) {
      throw new LocalPostgresError(
        'DATA_DIR_FOREIGN',
        `${dataDir} holds a cluster already, and "persist: false" would remove it. Name another folder, or leave "persist" out.`,
      )
    }
    return await launch(cluster, binaries, user, { ...DEFAULT_SETTINGS, ...settings }, port, remove)
  } catch (error) {
    if (options.dataDir === undefined) await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

async function launch(
  cluster: Cluster,
  binaries: Binaries,
  user: ServerUser,
  settings: Readonly<Record<string, string>>,
  fixedPort: number | undefined,
  remove: string,
): Promise<LocalPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await findFreePort())
    const child = spawnServer(cluster.dataDir, binaries, user, { ...settings, port: String(port) })
    const url = `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`
    const ended = new Promise<void>((done) => child.once('error', () => done()).once('exit', () => done()))
    const watchdog = child.pid === undefined ? undefined : startWatchdog(child.pid, cluster.dataDir, remove)
    let trouble: string | undefined
    try {
      trouble = await waitUntilReady(url, cluster.dataDir, child)
    } catch (error) {
      trouble = (error as Error).message
    }
    if (trouble === undefined && child.pid !== undefined) {
      writeOwner(cluster.dataDir)
      return asHandle(child, ended, url, port, cluster.dataDir, binaries.major, remove, () => watchdog?.dismiss())
    }
    watchdog?.dismiss()
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await shutDown(child.pid)
    const log = await readFile(join(cluster.dataDir, LOG_FILE), 'utf8').catch(() => '')
    const portTaken = /Address already in use|could not create any TCP\/IP sockets/.test(log)
    // Between the probe and the start somebody else can take the port.
    if (portTaken && fixedPort === undefined && attempt < PORT_ATTEMPTS) continue
    if (portTaken)
      throw new LocalPostgresError(
        'PORT_IN_USE',
        `Port ${port} on 127.0.0.1 is taken. Name another "port", or leave it out for a free one.`,
      )
    throw new LocalPostgresError(
      'START_FAILED',
      `Postgres did not start in ${cluster.dataDir}: ${trouble}\n${log.trim().split('\n').slice(-12).join('\n')}`,
    )
  }
}

function spawnServer(
  dataDir: string,
  binaries: Binaries,
  user: ServerUser,
  settings: Readonly<Record<string, string>>,
): ChildProcess {
  const log = openSync(join(dataDir, LOG_FILE), 'w', 0o600)
  try {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(binaries.postgres, ['-D', dataDir, ...flags], {
      ...idsOf(user),
      cwd: dataDir,
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      // Its own process group: Ctrl-C ends the program first and the database after it.
      detached: true,
      stdio: ['ignore', log, log],
    })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/** Nothing when the server answers on the port and is ours; else why it does not. */
async function waitUntilReady(url: string, dataDir: string, child: ChildProcess): Promise<string | undefined> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  let spawnError: Error | undefined
  child.once('error', (error) => (spawnError = error))
  const ended = new Promise<never>((_, reject) => child.once('exit', () => reject(new Error('it ended'))))
  ended.catch(() => {})
  let last = 'it did not answer'
  while (performance.now() < deadline) {
    if (spawnError !== undefined) return spawnError.message
    if (child.exitCode !== null || child.signalCode !== null)
      return `it ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      // What listens on a taken port may accept the connection and never say a word.
      await Promise.race([client.connect(), ended])
      const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
      if (rows[0]?.folder === dataDir) return undefined
      last = 'another server answers on its port'
    } catch (error) {
      last = (error as Error).message
    } finally {
      void client.end().catch(() => {})
    }
    await delay(25)
  }
  return `${last} within ${READY_TIMEOUT_MS / 1000} s`
}

function asHandle(
  child: ChildProcess,
  ended: Promise<void>,
  url: string,
  port: number,
  dataDir: string,
  major: number,
  remove: string,
  dismissWatchdog: () => void,
): LocalPostgres {
  const pid = child.pid as number
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= (async (): Promise<void> => {
      child.ref()
      if (child.exitCode === null && child.signalCode === null) await shutDown(pid)
      await ended
      if (remove !== '') await rm(remove, { recursive: true, force: true })
      dismissWatchdog()
    })()
    return stopping
  }
  return { url, port, major, pid, dataDir, logFile: join(dataDir, LOG_FILE), stop, [Symbol.asyncDispose]: stop }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
