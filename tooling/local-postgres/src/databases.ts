import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { LocalPostgresError } from './errors.ts'

const SESSIONS_END_MS = 1_000

/** How a database is created. */
export interface CreateDatabaseOptions {
  /** The database it is copied from; nobody may be connected to that one. Default: the empty `template0`. */
  readonly template?: string
}

/** A database that lasts as long as its owner. */
export interface TestDatabase extends AsyncDisposable {
  /** Its connection string. */
  readonly url: string
  readonly name: string
  /** Drops it and ends what is connected to it. May be called again. */
  drop(): Promise<void>
}

/** Creates a database on the server of `url` and returns its connection string. Fails when the name is taken. */
export async function createDatabase(url: string, name: string, options: CreateDatabaseOptions = {}): Promise<string> {
  const { template = 'template0' } = options
  const statement = `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)}`
  await withClient(url, async (client) => await client.query(statement))
  return urlOfDatabase(url, name)
}

/**
 * Drops a database; nothing happens when there is none. Sessions that are just ending are given up to a second, so that
 * their clients see no error; what is connected then is ended.
 */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    const deadline = performance.now() + SESSIONS_END_MS
    while (performance.now() < deadline && (await hasSessions(client, name))) await delay(10)
    await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
  })
}

/**
 * Creates a database with a random name, for one test or one test file (about 50 ms).
 *
 * @example
 * await using database = await createTestDatabase(inject('pgUrl'))
 */
export async function createTestDatabase(pgUrl: string, options: CreateDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `tidemark_test_${randomBytes(8).toString('hex')}`
  const url = await createDatabase(pgUrl, name, options)
  let dropping: Promise<void> | undefined
  const drop = (): Promise<void> => (dropping ??= dropDatabase(pgUrl, name))
  return { url, name, drop, [Symbol.asyncDispose]: drop }
}

/** The same server and user, another database. */
export function urlOfDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${encodeURIComponent(name)}`
  return changed.href
}

/**
 * The major version of a server that somebody else runs.
 *
 * @throws LocalPostgresError `NOT_REACHABLE` naming what was asked (never the password).
 */
export async function probeServer(url: string, named: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    return Math.trunc(Number(rows[0]?.server_version_num) / 10_000)
  } catch (cause) {
    const { message, code } = cause as Error & { code?: string }
    throw new LocalPostgresError(
      'NOT_REACHABLE',
      `The Postgres server named by ${named} does not answer: ${message || code}. Correct it, or unset it to have one started.`,
      { cause },
    )
  } finally {
    await client.end().catch(() => {})
  }
}

async function hasSessions(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_stat_activity where datname = $1 limit 1', [name])
  return rowCount !== 0
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
