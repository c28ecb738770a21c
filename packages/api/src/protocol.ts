/**
 * The wire: what the procedures take and answer. Types only, free of imports, so that a browser client can depend on
 * this entry and carry nothing of the server with it. Rules in docs/protocol.md.
 *
 * @module @tidemark/api/protocol
 */

/**
 * What happened to a row; a hint, since the row itself is the truth. `invalidate` speaks of the whole table: read it
 * anew.
 */
export type WireOperation = 'create' | 'update' | 'delete' | 'invalidate'

/** One change as a client sees it. */
export interface WireChange<T extends string = string> {
  /** Name as declared on the server. */
  readonly table: T
  /**
   * The row's key as canonical text: `42`, `2024-03-10`, or a JSON array of texts for a composite key, `["a","1"]`.
   * `null` exactly when `operation` is `invalidate`.
   */
  readonly key: string | null
  readonly operation: WireOperation
  /** Whether it concerns everyone (a global row, a whole table) rather than the caller's own tenant alone. */
  readonly global: boolean
  /** When it was appended, ISO 8601 in UTC with microseconds. For display: never order by it. */
  readonly at: string
}

/** Input of `changes`. */
export interface ChangesInput<T extends string = string> {
  /**
   * Where to begin: a cursor exactly as it was answered (at most 65,536 characters), `'start'` (the oldest retained
   * change) or `'now'` (an empty page that holds the head cursor). Required: a forgotten cursor must not silently start
   * anew.
   */
  readonly since: string
  /** A view on the feed, 1 to 200 names. Changing it does not rewind. Default: all declared tables. */
  readonly tables?: readonly T[] | undefined
  /** How many changes at most, 1 to 5,000. Default 500. */
  readonly limit?: number | undefined
}

/** Why a cursor can no longer be served exactly. A closed set. */
export type WireResyncReason = 'pruned' | 'epoch' | 'ahead' | 'audience' | 'format' | 'scope' | 'key' | 'table'

/** A page of the feed. */
export interface ChangesPageOutput<T extends string = string> {
  readonly changes: readonly WireChange<T>[]
  /** Pass as `since` next time, unchanged. */
  readonly cursor: string
  /** Whether another page is ready now. */
  readonly hasMore: boolean
  /** Whether, after this page, the client has seen exactly what one snapshot of the database sees. */
  readonly upToDate: boolean
}

/** Nothing delivered and nothing lost: ask again with the same cursor after `retryAfterMs`. */
export interface ChangesHeldOutput {
  readonly held: true
  readonly cursor: string
  readonly retryAfterMs: number
}

/**
 * The cursor cannot be served exactly. Continue with `from`, after reading the rows anew unless the reason is `pruned`.
 */
export interface ChangesResyncOutput {
  readonly resync: {
    readonly reason: WireResyncReason
    /** For `pruned`, the oldest retained cursor; else the head. */
    readonly from: string
    /** When present, wait this long before reading anew: many clients were told at once. */
    readonly retryAfterMs?: number
  }
}

/** Answer of `changes`: test with `'resync' in answer`, then `'held' in answer`. */
export type ChangesOutput<T extends string = string> = ChangesPageOutput<T> | ChangesHeldOutput | ChangesResyncOutput

/** A scope value that JSON can carry. */
export type WireScopeValue = string | number | boolean | null

/** One table's part of a `notify` call. */
export interface NotifyEntryInput<T extends string = string> {
  readonly table: T
  /**
   * Canonical key texts as in {@link WireChange.key}, each at most 4,096 characters. Left out: the whole table changed.
   */
  readonly keys?: readonly string[] | undefined
  /** Scope values of those rows by column; required with `keys` when the table declares scopes. */
  readonly scopes?: Readonly<Record<string, WireScopeValue>> | undefined
}

/** Input of `notify`: 1 to 100 entries, at most 10,000 keys in all. */
export interface NotifyInput<T extends string = string> {
  readonly entries: readonly NotifyEntryInput<T>[]
  /** Kept with the entries for operators, at most 200 characters. */
  readonly reason?: string | undefined
}

/** Answer of `notify`. */
export interface NotifyOutput<T extends string = string> {
  /** Read-your-writes token: opaque text. */
  readonly token: string
  /** The tables that entries were appended for. */
  readonly tables: readonly T[]
  /** How many changes were appended. */
  readonly changes: number
}

/**
 * Every code that the procedures send.
 *
 * Caller's turn: `invalidInput`, `invalidCursor`, `unknownTable`, `scopedTable`, `payloadTooLarge`, `unauthorized`,
 * `invalidTenant`, `forbidden`. Operator's turn, the client backs off and asks again: all others.
 */
export type SyncErrorCode =
  | 'invalidInput'
  | 'invalidCursor'
  | 'unknownTable'
  | 'scopedTable'
  | 'payloadTooLarge'
  | 'unauthorized'
  | 'invalidTenant'
  | 'forbidden'
  | 'authUnavailable'
  | 'notMigrated'
  | 'schemaTooNew'
  | 'standby'
  | 'lockTimeout'
  | 'internal'

/** What `tidemarkErrorShape` adds to an error's `data`, as `data.tidemark`. */
export interface SyncErrorData {
  readonly code: SyncErrorCode
  /** Whether the same call may succeed later without the caller changing anything. */
  readonly retryable: boolean
  /** Path of the offending input, such as `limit` or `entries[0].keys`. */
  readonly field?: string
}

/** Bounds on everything that comes in. The values are fixed for one version of the wire. */
export interface SyncLimits {
  /** Characters of `since`. */
  readonly cursorLength: 65536
  /** Names in `tables`. */
  readonly tables: 200
  /** Characters of a table's or a scope column's name. */
  readonly nameLength: 256
  /** Changes in one page. */
  readonly pageChanges: 5000
  /** Changes in one page when `limit` is left out. */
  readonly defaultPageChanges: 500
  /** Entries in one `notify`. */
  readonly notifyEntries: 100
  /** Keys in one `notify`, over all its entries. */
  readonly notifyKeys: 10000
  /** Characters of one key text. */
  readonly keyLength: 4096
  /** Scope values in one entry. */
  readonly scopes: 16
  /** Characters of one scope value. */
  readonly scopeLength: 4096
  /** Characters of `reason`. */
  readonly reasonLength: 200
}
