/**
 * The part of a PGlite instance that {@link PgliteDialect} uses; see https://pglite.dev/docs/api for the whole. Structural, so that this package
 * does not depend on `@electric-sql/pglite`.
 */
export interface PgliteLike extends PgliteQueryable {
  readonly waitReady: Promise<void>
  /** Holds the instance's one connection for `callback`, inside a transaction. */
  transaction<T>(callback: (tx: PgliteTransactionLike) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Something that runs one parameterised statement. */
export interface PgliteQueryable {
  query<T>(query: string, params?: unknown[]): Promise<PgliteResults<T>>
}

/** The object PGlite passes to a transaction's callback. */
export interface PgliteTransactionLike extends PgliteQueryable {
  rollback(): Promise<void>
}

/** Result of one statement. */
export interface PgliteResults<T> {
  rows: T[]
  affectedRows?: number
}

/** Options of {@link PgliteDialect}. */
export interface PgliteDialectConfig {
  /** An instance, or a function that makes one at first use. */
  readonly pglite: PgliteLike | (() => PgliteLike | Promise<PgliteLike>)
}
