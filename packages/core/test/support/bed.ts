import type { Kysely } from 'kysely'
import { createFeed, type Feed, type TableDeclarations } from '../../src/index.ts'

/** Any tables with any columns: what these tests declare is known at run time only. */
export type AnyTables = Record<string, Record<string, unknown>>
export type AnyFeed = Feed<AnyTables, TableDeclarations<AnyTables>>
export type Row = Record<string, unknown>

/** A session of its own (on PGlite: the only one there is, for as long as it is open). */
export interface Session extends AsyncDisposable {
  /** Runs one or several statements; the rows of the last one. */
  sql(text: string): Promise<Row[]>
}

/** Which triggers capture the tables of a test. `statement`: nothing is declared, so ordinary tables get statement triggers. */
export type Level = 'statement' | 'row'

/** What the tests of one run have in common. */
export interface BedOptions {
  /** Default `tidemark`. */
  readonly feedSchema?: string
  /** Default `statement`. */
  readonly level?: Level
}

/** What a back end offers to the tests: one database, with an empty schema `app` for the tables of each test. */
export interface Bed {
  readonly backend: 'postgres' | 'pglite'
  readonly level: Level
  /** Major version of Postgres. */
  readonly major: number
  /** Superuser; `search_path` is `app, public`. */
  readonly db: Kysely<AnyTables>
  readonly feedSchema: string
  /** Runs one or several statements as superuser; the rows of the last one. */
  sql(text: string): Promise<Row[]>
  session(options?: SessionOptions): Promise<Session>
  /** `copy <target> from stdin` with this text. */
  copyIn(target: string, text: string): Promise<void>
  /** Empties the database: no feed, no tables. */
  reset(): Promise<void>
  close(): Promise<void>
}

export interface SessionOptions {
  /** Acts with this role's rights. */
  readonly role?: string
  /** SQL that is run first. */
  readonly setup?: string
}

export interface Declaration {
  readonly tenant?: string | null
  readonly key: string | readonly [string, ...string[]]
  readonly scopes?: readonly string[]
  readonly capture?: Level
}

/** A feed on the bed's database, at the bed's level unless a declaration says otherwise. Pass `db` for another role's or pool's view of it. */
export function feedOn(
  bed: Pick<Bed, 'db' | 'feedSchema' | 'level'>,
  tables: Readonly<Record<string, Declaration>>,
  options: {
    readonly captureRole?: string
    readonly db?: Kysely<AnyTables>
    readonly schema?: string
    readonly tenancy?: 'required' | 'none'
  } = {},
): AnyFeed {
  return createFeed({
    db: bed.db,
    schema: bed.feedSchema,
    tables: atLevel(bed.level, tables) as TableDeclarations<AnyTables>,
    ...options,
  } as Parameters<typeof createFeed<AnyTables, TableDeclarations<AnyTables>>>[0])
}

function atLevel(level: Level, tables: Readonly<Record<string, Declaration>>): Readonly<Record<string, Declaration>> {
  if (level === 'statement') return tables
  return Object.fromEntries(Object.entries(tables).map(([name, declared]) => [name, { capture: level, ...declared }]))
}

/** Creates tables, declares them and installs the feed. */
export async function capture(bed: Bed, ddl: string, tables: Readonly<Record<string, Declaration>>): Promise<AnyFeed> {
  await bed.sql(ddl)
  const feed = feedOn(bed, tables)
  await feed.migrate()
  return feed
}

/** Quotes an identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
