import { CamelCasePlugin, Kysely, PostgresDialect, sql, type KyselyPlugin, type PostgresPool } from 'kysely'
import type pg from 'pg'
import { openPool } from '../cli/open-pool.ts'
import { ddl } from './ddl.ts'
import { createTortureFeed, FEED_SCHEMA, type TortureDatabase, type TortureFeed } from './tables.ts'

/** One process as far as the feed is concerned: a pool and a feed object of its own. */
export interface Side {
  readonly db: Kysely<TortureDatabase>
  readonly feed: TortureFeed
  /** Its connections by the server's process: for what Kysely cannot say. */
  readonly sessions: ReadonlyMap<number, pg.PoolClient>
}

export interface SideOptions {
  readonly max: number
  readonly camelCase?: boolean
  /** Command-line options of its sessions. */
  readonly session?: string
}

/** Opens a side. Sides differ in what an app may differ in: plugins and session settings. */
export function openSide(url: string, options: SideOptions): Side {
  const pool = openPool({
    connectionString: url,
    max: options.max,
    ...(options.session === undefined ? {} : { options: options.session }),
  })
  const sessions = new Map<number, pg.PoolClient>()
  const noted: PostgresPool = {
    connect: async () => {
      const client = (await pool.connect()) as pg.PoolClient & { readonly processID: number }
      sessions.set(client.processID, client)
      return client
    },
    end: () => pool.end(),
  }
  const plugins: KyselyPlugin[] = options.camelCase === true ? [new CamelCasePlugin()] : []
  const db = new Kysely<TortureDatabase>({ dialect: new PostgresDialect({ pool: noted }), plugins })
  return { db, feed: createTortureFeed(db), sessions }
}

/** A plain role of this database's: it owns the tables with row security and has rights on nothing else. */
export function ownerRole(url: string): string {
  return `${decodeURIComponent(new URL(url).pathname.slice(1))}_owner`
}

/**
 * Creates the tables and installs the feed. Returns the tables that it captures. Roles belong to the whole server: {@link dropOwner} takes this one away again.
 */
export async function installSchema({ db, feed }: Side, owner: string): Promise<readonly string[]> {
  for (const statement of ddl(`"${owner}"`)) await sql.raw(statement).execute(db)
  const { installed } = await feed.migrate()
  // The planner knows the log as empty for the whole run: reads must not depend on fresh statistics.
  await sql`alter table ${sql.table(`${FEED_SCHEMA}.log`)} set (autovacuum_enabled = off)`.execute(db)
  return installed
}

/** Drops the plain role and what it owns. */
export async function dropOwner({ db }: Side, owner: string): Promise<void> {
  const { rows } = await sql`select from pg_roles where rolname = ${owner}`.execute(db)
  if (rows.length === 0) return
  await sql`drop owned by ${sql.id(owner)}`.execute(db)
  await sql`drop role ${sql.id(owner)}`.execute(db)
}
