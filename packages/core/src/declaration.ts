import type { Kysely, Selectable } from 'kysely'

/** Names of the tables in a Kysely database interface, `'table'` or `'schema.table'`. */
export type TableName<DB> = keyof DB & string

/** Names of a table's columns. */
export type ColumnName<DB, T extends keyof DB> = keyof DB[T] & string

/** Whether rows belong to tenants. */
export type Tenancy = 'required' | 'none'

/**
 * What a feed must know of one table.
 *
 * `key`: the column, or columns in order, that identify a row; NOT NULL and covered by a unique index.
 * `tenant`: the column that holds the row's tenant, NOT NULL; `null` says aloud that the rows are global.
 * `scopes`: columns whose values are recorded with each entry, so that readers can be limited to some of them.
 * `capture`: which triggers watch the table. Left out, the table decides: statement triggers, or row triggers where statements would miss writes or tell them
 * in another order (docs/capture.md, "Row triggers"). `'row'`: row triggers anyway; cheaper for statements over one row, many times dearer for
 * statements over thousands, and worth it where rows hold values of 100 kB that updates leave alone. `'statement'`: statement triggers all
 * the same, where only the order is at stake: what the app's triggers or several foreign keys do to the same table may be told in another order.
 */
export interface TableDeclaration<DB, T extends TableName<DB>> {
  readonly tenant: ColumnName<DB, T> | null
  readonly key: ColumnName<DB, T> | readonly [ColumnName<DB, T>, ...ColumnName<DB, T>[]]
  readonly scopes?: readonly ColumnName<DB, T>[]
  readonly capture?: 'row' | 'statement'
}

/** A declaration in a feed with `tenancy: 'none'`: `tenant` may be left out. */
export interface UntenantedDeclaration<DB, T extends TableName<DB>> {
  readonly tenant?: null
  readonly key: ColumnName<DB, T> | readonly [ColumnName<DB, T>, ...ColumnName<DB, T>[]]
  readonly scopes?: readonly ColumnName<DB, T>[]
  readonly capture?: 'row' | 'statement'
}

/** The declarations of a feed, by table name. */
export type TableDeclarations<DB, N extends Tenancy = 'required'> = {
  readonly [T in TableName<DB>]?: N extends 'none' ? UntenantedDeclaration<DB, T> : TableDeclaration<DB, T>
}

/** Makes a misspelt field of a declaration an error: left unread, a `scope` for `scopes` would open the table. */
type OnlyKnownFields<TT> = {
  readonly [T in keyof TT]: { readonly [F in Exclude<keyof TT[T], 'tenant' | 'key' | 'scopes' | 'capture'>]: never }
}

/** Options of `createFeed`. */
export interface FeedOptions<DB, TT, N extends Tenancy> {
  /**
   * The app's Kysely instance. Its plugins are not applied to the feed's own statements, so tables and columns are declared as they are named in the
   * database, also where a plugin gives them other names.
   */
  readonly db: Kysely<DB>
  /** The tables to follow. A name that is not in `DB` does not compile. */
  readonly tables: TT & { readonly [T in Exclude<keyof TT, TableName<DB>>]: never } & OnlyKnownFields<TT>
  /** `'none'` for apps without tenants: all rows are global. Default `'required'`. */
  readonly tenancy?: N
  /** Schema of the feed's own objects, 1 to 55 bytes. Default `tidemark`. */
  readonly schema?: string
  /** Role that owns the capture functions. Default `<schema>_capture`; made by `migrate` when it may. */
  readonly captureRole?: string
}

/** One declared table after normalisation. */
export interface DeclaredTable {
  /** Name as declared and as it appears in every change. */
  readonly name: string
  readonly key: readonly string[]
  readonly tenant: string | null
  readonly scopes: readonly string[]
  /** Which triggers were asked for. `'auto'`: the table decides. */
  readonly capture: 'auto' | 'row' | 'statement'
}

/** A column's value as it may be passed in a key: a `Date` would lose microseconds, so times are passed as text. */
type KeyPart<V> = V extends Date ? string : V

/** The type of a key value in calls that name rows: the column's value, or an object for a composite key. Times are text. */
export type KeyInput<DB, TT, T extends keyof TT & keyof DB> = TT[T] extends { readonly key: infer K }
  ? K extends readonly (infer C extends keyof DB[T])[]
    ? { readonly [P in C & keyof Selectable<DB[T]>]: KeyPart<Selectable<DB[T]>[P]> }
    : K extends keyof Selectable<DB[T]>
      ? KeyPart<Selectable<DB[T]>[K]>
      : never
  : never

/** Scope values of rows, by declared scope column. */
export type ScopesInput<TT, T extends keyof TT> =
  NonNullable<TT[T]> extends { readonly scopes?: infer S }
    ? NonNullable<S> extends readonly (infer C extends string)[]
      ? { readonly [P in C]: unknown }
      : { readonly [P in string]: never }
    : never

/** Names of the tables a feed declares. */
export type FeedTable<DB, TT> = keyof TT & TableName<DB>
