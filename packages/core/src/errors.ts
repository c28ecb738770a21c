/**
 * Every error this library throws on purpose.
 *
 * `category` says whose turn it is: `input` (the caller's arguments), `configuration` (the feed's declaration or
 * the database's state; a developer or operator acts) or `availability` (try again later). Messages name the field and
 * the remedy and never hold row values, tokens or SQL. Anything else that is thrown comes from the database driver.
 */
export abstract class TidemarkError extends Error {
  /** Stable, literal identifier: switch on this, not on the message. */
  abstract readonly code: string
  /** Whose turn it is. */
  abstract readonly category: 'input' | 'configuration' | 'availability'
  /** Whether the same call may succeed later without anyone changing anything. */
  readonly retryable: boolean = false

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** An argument is missing, of the wrong shape or out of bounds; `field` names it. */
export class InvalidInputError extends TidemarkError {
  static readonly code = 'invalidInput'
  readonly code: 'invalidInput' = 'invalidInput'
  readonly category = 'input'
  /** Path of the offending argument, e.g. `limit` or `entries[0].keys`. */
  readonly field: string
  constructor(field: string, message: string) {
    super(`"${field}": ${message}`)
    this.field = field
  }
}

/** `since` is not a cursor this library ever issued. A cursor that is merely no longer served is a `resync`, not this. */
export class InvalidCursorError extends TidemarkError {
  static readonly code = 'invalidCursor'
  readonly code: 'invalidCursor' = 'invalidCursor'
  readonly category = 'input'
  readonly field = 'since'
  constructor() {
    super("\"since\": not a cursor of this feed; pass a cursor exactly as it was returned, or 'start' or 'now'")
  }
}

/** A tenant value that Postgres cannot cast to the tenant columns' type. Treat it as a failed authentication. */
export class InvalidTenantError extends TidemarkError {
  static readonly code = 'invalidTenant'
  readonly code: 'invalidTenant' = 'invalidTenant'
  readonly category = 'input'
  readonly field = 'tenant'
  constructor(message = '"tenant": the value cannot be a tenant of this feed; check the token\'s tenant claim') {
    super(message)
  }
}

/** A table that the feed does not declare. */
export class UnknownTableError extends TidemarkError {
  static readonly code = 'unknownTable'
  readonly code: 'unknownTable' = 'unknownTable'
  readonly category = 'input'
  readonly field: string
  constructor(field = 'tables') {
    super(`"${field}": names a table that this feed does not declare; declare it in createFeed({ tables })`)
    this.field = field
  }
}

/** The table itself cannot be captured: a view, partitioned, temporary, unlogged, foreign, inherited, or missing. */
export class UnsupportedTableError extends TidemarkError {
  static readonly code = 'unsupportedTable'
  readonly code: 'unsupportedTable' = 'unsupportedTable'
  readonly category = 'configuration'
  readonly table: string
  constructor(table: string, message: string) {
    super(`table "${table}": ${message}`)
    this.table = table
  }
}

/** A key, tenant or scope column that cannot be captured: missing, nullable, virtual, or of a type without one canonical text. */
export class UnsupportedColumnError extends TidemarkError {
  static readonly code = 'unsupportedColumn'
  readonly code: 'unsupportedColumn' = 'unsupportedColumn'
  readonly category = 'configuration'
  readonly table: string
  readonly column: string
  constructor(table: string, column: string, message: string) {
    super(`table "${table}", column "${column}": ${message}`)
    this.table = table
    this.column = column
  }
}

/** What is declared contradicts what another version of the app installed (another key or tenant column). */
export class DeclarationConflictError extends TidemarkError {
  static readonly code = 'declarationConflict'
  readonly code: 'declarationConflict' = 'declarationConflict'
  readonly category = 'configuration'
  readonly table: string
  constructor(table: string, message: string) {
    super(`table "${table}": ${message}`)
    this.table = table
  }
}

/** The feed's schema, or the capture of a declared table, is not installed. */
export class NotMigratedError extends TidemarkError {
  static readonly code = 'notMigrated'
  readonly code: 'notMigrated' = 'notMigrated'
  readonly category = 'configuration'
  constructor(message: string) {
    super(`${message}; run feed.migrate()`)
  }
}

/** The database was migrated by a newer version with a breaking change: this version must not touch it. */
export class SchemaTooNewError extends TidemarkError {
  static readonly code = 'schemaTooNew'
  readonly code: 'schemaTooNew' = 'schemaTooNew'
  readonly category = 'configuration'
  constructor(found: number, known: number) {
    super(
      `the feed's schema is at breaking migration ${found}, this version knows ${known}: upgrade @tidemark/core in this process`,
    )
  }
}

/** The database role lacks a right that the installation needs; `steps` says what is left to do. */
export class InsufficientRightsError extends TidemarkError {
  static readonly code = 'insufficientRights'
  readonly code: 'insufficientRights' = 'insufficientRights'
  readonly category = 'configuration'
  readonly steps: readonly string[]
  constructor(message: string, steps: readonly string[], options?: ErrorOptions) {
    super(message, options)
    this.steps = steps
  }
}

/** The read was asked for inside a transaction that has written: its own entries would be delivered and could still be rolled back. */
export class WritingTransactionError extends TidemarkError {
  static readonly code = 'writingTransaction'
  readonly code: 'writingTransaction' = 'writingTransaction'
  readonly category = 'input'
  readonly field = 'transaction'
  constructor() {
    super('"transaction": it has already written; read the feed before the first write, or outside the transaction')
  }
}

/** The read was asked for inside a transaction whose isolation level is not `repeatable read`. */
export class IsolationLevelError extends TidemarkError {
  static readonly code = 'isolationLevel'
  readonly code: 'isolationLevel' = 'isolationLevel'
  readonly category = 'input'
  readonly field = 'transaction'
  constructor() {
    super('"transaction": reads need isolation level "repeatable read"; pass such a transaction, or none')
  }
}

/** The server is a hot standby; this version reads from a primary only. */
export class StandbyError extends TidemarkError {
  static readonly code = 'standby'
  readonly code: 'standby' = 'standby'
  readonly category = 'configuration'
  constructor() {
    super('the server is a hot standby, whose snapshots hide running transactions; connect the feed to the primary')
  }
}

/** A lock for the installation was not granted in time, after all attempts. Nothing was changed for this table. */
export class LockTimeoutError extends TidemarkError {
  static readonly code = 'lockTimeout'
  readonly code: 'lockTimeout' = 'lockTimeout'
  readonly category = 'availability'
  override readonly retryable = true
  readonly table: string
  constructor(table: string, options?: ErrorOptions) {
    super(
      `table "${table}": its lock was not granted in time; end long transactions on it or raise lockTimeoutMs`,
      options,
    )
    this.table = table
  }
}

/** Union of all error classes of this package, for exhaustive handling. */
export type AnyTidemarkError =
  | InvalidInputError
  | InvalidCursorError
  | InvalidTenantError
  | UnknownTableError
  | UnsupportedTableError
  | UnsupportedColumnError
  | DeclarationConflictError
  | NotMigratedError
  | SchemaTooNewError
  | InsufficientRightsError
  | WritingTransactionError
  | IsolationLevelError
  | StandbyError
  | LockTimeoutError

/** Union of all codes of this package: `Record<TidemarkErrorCode, …>` is total. */
export type TidemarkErrorCode = AnyTidemarkError['code']
