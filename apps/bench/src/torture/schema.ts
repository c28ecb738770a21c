import { createFeed, type Feed } from '@tidemark/core'
import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Generated, type KyselyPlugin } from 'kysely'
import { openPool } from '../cli/open-pool.ts'

/*
 * The tables under torture. Names, key types, tenants and settings are chosen to be awkward: quoted names in another schema, a schema of the feed's that
 * needs quoting, a composite key with a date, a key that is swapped by single statements, rows without a tenant.
 */

/** The feed's own schema in a run. */
export const FEED_SCHEMA = 'Feed of "torture"'

interface Versioned {
  /** Counts the writes of a row while it lives under one key: the check of the witness. */
  readonly version: Generated<number>
  /** Another text with each update: rows that exchange their keys are never equal to their predecessors. */
  readonly note: string | null
}

/** The database of a run. */
export interface TortureDatabase {
  readonly items: Versioned & { readonly id: string; readonly tenant_id: string; readonly project_id: number | null }
  readonly 'app.Order Lines': Versioned & {
    readonly day: Date
    readonly 'Label "x"': string
    readonly tenant_id: string
  }
  readonly slots: Versioned & { readonly pos: number; readonly tenant_id: string }
  readonly rates: Versioned & { readonly code: string; readonly value: string }
  readonly drafts: Versioned & { readonly id: string; readonly tenant_id: string }
}

const declarations = {
  items: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
  'app.Order Lines': { tenant: 'tenant_id', key: ['day', 'Label "x"'] },
  slots: { tenant: 'tenant_id', key: 'pos' },
  rates: { tenant: null, key: 'code' },
  drafts: { tenant: 'tenant_id', key: 'id' },
} as const

export type TortureTable = keyof typeof declarations
export const tortureTables: readonly TortureTable[] = Object.keys(declarations) as TortureTable[]
/** Tables whose rows are global. */
export const globalTables: ReadonlySet<string> = new Set(['rates'])
export type TortureFeed = Feed<TortureDatabase, typeof declarations>

/** Tenants, one of them with a name that breaks careless SQL. The quiet one gets no bulk writes, so that tiny pages keep up. */
export const QUIET = 'quiet'
export const ODD = `O'Brien "\\" ünï`
export const BULKY = ['north', 'south'] as const
export const tenants: readonly string[] = [...BULKY, 'east', ODD, QUIET]

/** One process as far as the feed is concerned: a pool and a feed object of its own. */
export interface Side {
  readonly db: Kysely<TortureDatabase>
  readonly feed: TortureFeed
}

/** Opens a side. Sides differ in what an app may differ in: plugins and session settings. */
export function openSide(
  url: string,
  options: { readonly max: number; readonly camelCase?: boolean; readonly session?: string },
): Side {
  const pool = openPool({
    connectionString: url,
    max: options.max,
    ...(options.session === undefined ? {} : { options: options.session }),
  })
  const plugins: KyselyPlugin[] = options.camelCase === true ? [new CamelCasePlugin()] : []
  const db = new Kysely<TortureDatabase>({ dialect: new PostgresDialect({ pool }), plugins })
  return { db, feed: createFeed({ db, schema: FEED_SCHEMA, captureRole: 'tidemark_capture', tables: declarations }) }
}

/** Creates the tables and installs the feed. */
export async function installSchema({ db, feed }: Side): Promise<void> {
  const statements = [
    `create schema app`,
    `create table items (id bigint primary key, tenant_id text not null, project_id integer, version integer not null default 1, note text)`,
    `create index on items (tenant_id, project_id)`,
    `create table app."Order Lines" (day date not null, "Label ""x""" text not null, tenant_id text not null, version integer not null default 1, note text, primary key (day, "Label ""x"""))`,
    // Deferrable: single statements may swap and shift keys.
    `create table slots (pos integer primary key deferrable initially immediate, tenant_id text not null, version integer not null default 1, note text)`,
    `create table rates (code text primary key, value numeric not null, version integer not null default 1, note text)`,
    `create table drafts (id bigint primary key, tenant_id text not null, version integer not null default 1, note text)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
  await feed.migrate()
  // The planner knows the log as empty for the whole run: reads must not depend on fresh statistics.
  await sql`alter table ${sql.table(`${FEED_SCHEMA}.log`)} set (autovacuum_enabled = off)`.execute(db)
}
