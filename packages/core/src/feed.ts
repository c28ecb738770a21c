import type { Kysely } from 'kysely'
import type { DeclaredTable, FeedOptions, TableDeclarations, Tenancy } from './declaration.ts'
import { postgres } from './dialects/postgres/index.ts'
import { InvalidInputError, type TidemarkErrorCode } from './errors.ts'
import { createInternals } from './internal/create-internals.ts'
import { setInternals } from './internal/internals.ts'
import { checkMigrateOptions } from './migrate-options.ts'
import { normaliseDeclarations } from './normalise-declarations.ts'

/** Options of `feed.migrate()`. */
export interface MigrateOptions {
  /** How long one attempt waits for a table's lock, in milliseconds. 1 to 600,000, default 2,000. Writers queue behind the wait, so keep it short. */
  readonly lockTimeoutMs?: number
  /** How many attempts are made for each table. 1 to 1,000, default 10. */
  readonly lockAttempts?: number
  /** Roles of server processes that read the feed and append to it without owning it. They get the rights for that, and nothing else. */
  readonly grantTo?: readonly string[]
  /** Tables whose key or tenant column was changed on purpose. Without this such a difference is a `DeclarationConflictError`. */
  readonly redeclare?: readonly string[]
}

/** What `feed.migrate()` did. */
export interface MigrateReport {
  /** Numbers of the schema migrations applied now; empty when there was nothing to do. */
  readonly migrations: readonly number[]
  /** Tables whose capture was installed or mended now. */
  readonly installed: readonly string[]
}

/**
 * What a finding is about; literal and stable.
 *
 * `notInstalled`: the feed's own schema is missing or old. `idBlocks`: entry ids are handed out in blocks. Of a table: `notCaptured`;
 * `tableReplaced`: dropped and created again; `tableDropped`: gone, its functions left behind; `rowsChanged`: DDL changed rows that no trigger sees;
 * `otherDeclaration`; `trigger`: missing, disabled or altered; `level`: statement triggers where row triggers are needed, or the reverse; `function`: another
 * body or other rights; `rights`: what the capture role may see; `guard`: of the tracked columns; and the codes of the errors that `migrate()`
 * would throw for it.
 */
export type FindingCode =
  | 'notInstalled'
  | 'idBlocks'
  | 'notCaptured'
  | 'tableReplaced'
  | 'tableDropped'
  | 'rowsChanged'
  | 'otherDeclaration'
  | 'trigger'
  | 'level'
  | 'function'
  | 'rights'
  | 'guard'
  | TidemarkErrorCode

/** One difference between what is declared and what is installed. */
export interface Finding {
  readonly code: FindingCode
  /** The declared table, or `null` when it concerns the feed as a whole. */
  readonly table: string | null
  /** What is wrong, in words for an operator. */
  readonly problem: string
  /** What to do. */
  readonly remedy: string
  /** Whether changes may have passed the feed by. What mends it then also tells all readers of the table: `migrate()` does, by a table-level entry. */
  readonly unseen: boolean
}

/**
 * A change feed: what `readChanges`, `appendChange`, `notify` and `@tidemark/api` work on. Holds no connection and no timer.
 */
export interface Feed<DB, TT> {
  /** The app's Kysely instance. */
  readonly db: Kysely<DB>
  /** Schema of the feed's own objects. */
  readonly schema: string
  /** Whether rows belong to tenants. */
  readonly tenancy: Tenancy
  /** The declared tables, normalised, by name. */
  readonly tables: ReadonlyMap<keyof TT & string, DeclaredTable>
  /** Type-level only: carries the declarations for inference. */
  readonly declarations: TT
  /**
   * Brings the feed's schema and the capture of each declared table to what this version and these declarations need.
   * Safe to call at every start of every process; an up-to-date database is only looked at: no lock, no write.
   *
   * Each table that gets capture anew gets a table-level entry in the same transaction (what was written unseen is thereby announced). Nothing is
   * ever removed, so an older version of the app may start beside a newer one.
   *
   * @throws {SchemaTooNewError} {@link InsufficientRightsError} {@link UnsupportedTableError} {@link UnsupportedColumnError}
   *   {@link DeclarationConflictError} {@link LockTimeoutError}
   */
  migrate(options?: MigrateOptions): Promise<MigrateReport>
  /**
   * Compares declared with installed and says what differs, without changing anything; what lies behind each table's first finding may show only
   * once that is mended. An empty array is good news.
   */
  verify(): Promise<readonly Finding[]>
}

/** Longest schema name: the names derived from it must fit into Postgres' 63 bytes. */
const MAX_SCHEMA_BYTES = 55

/**
 * Makes a feed over the tables of a database. Opens nothing and asks nothing: the first call that needs the database does.
 *
 * @example
 * const feed = createFeed({
 *   db,
 *   tables: {
 *     shipments: { tenant: 'company_id', key: 'id' },
 *     cities: { tenant: null, key: 'id' },
 *   },
 * })
 * await feed.migrate()
 *
 * @throws {InvalidInputError} when an option is of the wrong shape. Whether the tables fit is found by `migrate()`.
 */
export function createFeed<DB, const TT extends TableDeclarations<DB, N>, N extends Tenancy = 'required'>(
  options: FeedOptions<DB, TT, N>,
): Feed<DB, TT> {
  const { db, schema = 'tidemark', tenancy = 'required' } = options
  requireName('schema', schema, MAX_SCHEMA_BYTES)
  if (schema.startsWith('pg_'))
    throw new InvalidInputError('schema', 'must not begin with pg_, which Postgres keeps for itself')
  const captureRole = options.captureRole ?? `${schema}_capture`
  requireName('captureRole', captureRole, 63)
  if (tenancy !== 'required' && tenancy !== 'none')
    throw new InvalidInputError('tenancy', "must be 'required' or 'none'")
  const tables = normaliseDeclarations(options.tables, tenancy)

  const internals = createInternals({ db, schema, captureRole, tenancy, tables }, postgres)
  const { setup, dialect } = internals
  const feed: Feed<DB, TT> = Object.freeze({
    db,
    schema,
    tenancy,
    tables: tables as Feed<DB, TT>['tables'],
    declarations: options.tables,
    migrate: async (migrateOptions: MigrateOptions = {}) => {
      checkMigrateOptions(migrateOptions, tables)
      const report = await dialect.migrate(setup, migrateOptions)
      await internals.reload()
      return report
    },
    verify: () => dialect.verify(setup),
  })
  setInternals(feed, internals)
  return feed
}

function requireName(field: string, value: unknown, maxBytes: number): void {
  if (typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxBytes && !value.includes('\0')) return
  throw new InvalidInputError(field, `must be a name of 1 to ${maxBytes} bytes`)
}
