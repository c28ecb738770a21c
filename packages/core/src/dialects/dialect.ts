import type { Kysely, Transaction } from 'kysely'
import type { Cursor } from '../cursor/cursor.ts'
import type { DeclaredTable, Tenancy } from '../declaration.ts'
import type { Finding, MigrateOptions, MigrateReport } from '../feed.ts'
import type { Operation } from '../change.ts'
import type { PageView } from '../read/plan-page.ts'

/** Any Kysely instance, as the dialects see it: they run SQL text, so the app's table types do not matter here. */
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely is invariant in DB; `any` is the only type that accepts every app's.
export type AnyKysely = Kysely<any>
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type AnyTransaction = Transaction<any>

/** What a dialect must know of a feed to work on it. */
export interface FeedSetup {
  readonly db: AnyKysely
  readonly schema: string
  readonly captureRole: string
  readonly tenancy: Tenancy
  readonly tables: ReadonlyMap<string, DeclaredTable>
}

/** The installed feed as one process last read it. */
export interface Catalogue {
  readonly epoch: string
  /** Changes whenever the catalogue does, and with the epoch. */
  readonly version: string
  /** Cast target of tenant values, or `null` when no installed table has a tenant column. */
  readonly tenantType: TenantType | null
  readonly byName: ReadonlyMap<string, InstalledTable>
  readonly byNumber: ReadonlyMap<number, InstalledTable>
}

/** Type of all tenant columns: how a value is cast, and how its canonical text is made (docs/capture.md, "Keys as text"). */
export interface TenantType {
  readonly castTo: string
  readonly kind: string
}

/** A table as the feed's catalogue holds it. */
export interface InstalledTable {
  readonly number: number
  readonly name: string
  readonly key: readonly CataloguedColumn[]
  readonly tenant: CataloguedColumn | null
  readonly scopes: readonly CataloguedColumn[]
}

export interface CataloguedColumn {
  readonly name: string
  readonly castTo: string
  readonly kind: string
}

/** An audience after its tenant was brought to canonical text. */
export type ReadAudience =
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'global' }
  | { readonly kind: 'all' }

/** One page's read: everything the statement needs. */
export interface PageRequest {
  readonly audience: ReadAudience
  /** `null`: only the head of the view is wanted (snapshot, floor, maximum). */
  readonly cursor: Cursor | null
  /** Numbers of the wanted tables. */
  readonly tables: readonly number[]
  readonly limit: number
}

/** A page's view with the facts that decide whether it may be used at all. */
export interface PageRead {
  readonly view: PageView
  readonly epoch: string
  /** The catalogue's, see `Catalogue.version`. */
  readonly version: string
  /** The reading transaction has written. */
  readonly hasWritten: boolean
  readonly isolation: string
  readonly standby: boolean
}

/** One entry to append by an explicit call. */
export interface ExplicitEntry {
  readonly table: InstalledTable
  readonly operation: Operation
  readonly tenant: string | null
  /** One text per key column and key. `null`: a table-level entry. */
  readonly keys: readonly (readonly string[])[] | null
  /** One text per scope column, or `null` for "whatever scope". */
  readonly scopes: readonly (string | null)[] | null
  readonly field: string
}

/** What differs between databases. Each dialect folder implements this once; nothing else asks which database it talks to. */
export interface Dialect {
  migrate(setup: FeedSetup, options: MigrateOptions): Promise<MigrateReport>
  verify(setup: FeedSetup): Promise<readonly Finding[]>
  untrack(
    setup: FeedSetup,
    table: string,
    options: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>,
  ): Promise<void>
  loadCatalogue(setup: FeedSetup): Promise<Catalogue>
  /** What `Catalogue.version` would be if it were loaded now. */
  currentVersion(setup: FeedSetup): Promise<string>
  /** Brings a tenant value to canonical text. Throws `InvalidTenantError` when it cannot be one. */
  canonicalTenant(setup: FeedSetup, type: TenantType, value: string): Promise<string>
  /** Runs `work` in a repeatable-read, read-only transaction of its own. */
  readOnly<T>(setup: FeedSetup, work: (trx: AnyTransaction) => Promise<T>): Promise<T>
  readPage(setup: FeedSetup, trx: AnyTransaction, request: PageRequest): Promise<PageRead>
  /** Whether transaction id `xid` lies in the future of this server's history. Uses a transaction of its own. */
  isAhead(setup: FeedSetup, xid: bigint): Promise<boolean>
  /** Appends entries in the caller's transaction; returns its id and how many keys were appended. */
  append(
    setup: FeedSetup,
    trx: AnyTransaction,
    entries: readonly ExplicitEntry[],
    note: { reason: string | null; actor: string | null },
  ): Promise<{ tx: string; changes: number }>
}
