export { createFeed } from './feed.ts'
export type { Feed, Finding, FindingCode, MigrateOptions, MigrateReport } from './feed.ts'
export type {
  ColumnName,
  DeclaredTable,
  FeedOptions,
  FeedTable,
  KeyInput,
  ScopesInput,
  TableDeclaration,
  TableDeclarations,
  TableName,
  Tenancy,
  UntenantedDeclaration,
} from './declaration.ts'

export { allTenants, globalOnly, tenant } from './audience.ts'
export type { AllTenantsAudience, Audience, GlobalAudience, TenantAudience } from './audience.ts'

export { readChanges } from './read/read-changes.ts'
export type { ReadChangesRequest } from './read/read-changes.ts'
export type {
  Change,
  ChangesHeld,
  ChangesPage,
  ChangesResync,
  Operation,
  Position,
  ReadResult,
  ResyncReason,
} from './change.ts'

export { appendChange } from './append/append-change.ts'
export type { AppendRequest } from './append/append-change.ts'
export { notify } from './append/notify.ts'
export type { AppendResult, NotifyEntry, NotifyRequest } from './append/notify.ts'
export { untrack } from './capture/untrack.ts'

export {
  DeclarationConflictError,
  InsufficientRightsError,
  InvalidCursorError,
  InvalidInputError,
  InvalidTenantError,
  IsolationLevelError,
  LockTimeoutError,
  NotMigratedError,
  SchemaTooNewError,
  StandbyError,
  TidemarkError,
  UnknownTableError,
  UnsupportedColumnError,
  UnsupportedTableError,
  WritingTransactionError,
} from './errors.ts'
export type { AnyTidemarkError, TidemarkErrorCode } from './errors.ts'
