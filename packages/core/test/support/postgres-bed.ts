import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { copyIn } from './copy-in.ts'
import {
  type AnyTables,
  type Bed,
  type BedOptions,
  quoted,
  type Row,
  type Session,
  type SessionOptions,
} from './bed.ts'

const SEARCH_PATH = '-c search_path=app,public'

/** A Postgres bed knows its connection string. */
export interface PostgresBed extends Bed {
  readonly url: string
  /** A pool and a Kysely of their own, for instance of another role or process. */
  session(options?: SessionOptions): Promise<PostgresSession>
  connect(options?: { readonly url?: string; readonly max?: number; readonly settings?: string }): Connected
}

export interface PostgresSession extends Session {
  /** Messages of all notices so far. */
  readonly notices: string[]
  /** Process id of the server's process. */
  readonly pid: number
}

export interface Connected extends AsyncDisposable {
  readonly db: Kysely<AnyTables>
  readonly pool: pg.Pool
}

/** A database on the run's Postgres server. */
export async function openPostgres({
  feedSchema = 'tidemark',
  level = 'statement',
}: BedOptions = {}): Promise<PostgresBed> {
  const database = await createTestDatabase()
  const connect: PostgresBed['connect'] = ({ url = database.url, max = 10, settings = '' } = {}) => {
    const pool = new pg.Pool({ connectionString: url, max, options: `${SEARCH_PATH} ${settings}` })
    pool.on('error', () => {})
    const db = new Kysely<AnyTables>({ dialect: new PostgresDialect({ pool }) })
    return { db, pool, [Symbol.asyncDispose]: () => db.destroy() }
  }
  const { db, pool } = connect()
  const { rows } = await pool.query<{ server_version_num: string }>('show server_version_num')
  const sql = async (text: string): Promise<Row[]> => lastRows(await pool.query<Row>(text))
  return {
    backend: 'postgres',
    level,
    major: Math.trunc(Number(rows[0]?.server_version_num) / 10_000),
    url: database.url,
    db,
    feedSchema,
    sql,
    connect,
    session: (options) => openSession(database.url, options),
    copyIn: (target, text) => copyIn(database.url, SEARCH_PATH, target, text),
    reset: async () => {
      await sql(
        `drop schema if exists ${quoted(feedSchema)} cascade; drop schema if exists app cascade; create schema app`,
      )
    },
    close: async () => {
      await db.destroy()
      await database.drop()
    },
  }
}

async function openSession(url: string, { role, setup }: SessionOptions = {}): Promise<PostgresSession> {
  const client = new pg.Client({ connectionString: url, options: SEARCH_PATH })
  const notices: string[] = []
  client.on('error', () => {})
  client.on('notice', ({ message }) => void notices.push(message ?? ''))
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  if (setup !== undefined) await client.query(setup)
  if (role !== undefined) await client.query(`set session authorization ${quoted(role)}`)
  return {
    notices,
    pid: rows[0]?.pid ?? 0,
    sql: async (text) => lastRows(await client.query<Row>(text)),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

// Several statements give an array of results, which the types do not tell.
function lastRows(result: pg.QueryResult<Row>): Row[] {
  const last = Array.isArray(result) ? (result as pg.QueryResult<Row>[]).at(-1) : result
  return last?.rows ?? []
}
