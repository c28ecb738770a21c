/**
 * What happened to a row. A hint, not a promise: readers treat `create` and `update` alike and the row itself is the truth
 * (docs/cursor.md, "Order"). `invalidate` speaks of the whole table: read it anew.
 */
export type Operation = 'create' | 'update' | 'delete' | 'invalidate'

/** One change of one row, or of a whole table. */
export interface Change<T extends string = string> {
  readonly table: T
  readonly operation: Operation
  /**
   * The row's key as canonical text, the same in every session and version: `42`, `2024-03-10`, or a JSON array of texts for
   * a composite key, `["a","1"]`. `null` exactly when `operation` is `invalidate`.
   */
  readonly key: string | null
  /** The row's tenant in canonical text; `null` for global rows and table-level entries. */
  readonly tenant: string | null
  /** When the entry was appended, ISO 8601 in UTC with microseconds. For display: never order by it. */
  readonly at: string
  /** Where the change stands in the log. Of two changes of one row from different transactions the one with the larger position is newer (exceptions: docs/cursor.md, "Order"). */
  readonly position: Position
  /** The transaction that wrote it, an `xid8` in decimal. Changes of one transaction share it. */
  readonly tx: string
}

/** Position of a change: entry id, then ordinal within the entry. */
export interface Position {
  /** Decimal text of a 64-bit integer. */
  readonly entry: string
  /** 0 for the entry's first key. */
  readonly ordinal: number
}

/** Why a cursor can no longer be served exactly. A closed set (docs/cursor.md). */
export type ResyncReason = 'pruned' | 'epoch' | 'ahead' | 'audience' | 'format' | 'scope' | 'key' | 'table'

/** A page of the feed. */
export interface ChangesPage<T extends string = string> {
  readonly changes: readonly Change<T>[]
  /** Pass as `since` next time. Opaque, url-safe, usually under 60 characters. */
  readonly cursor: string
  /** Whether another page is ready now. */
  readonly hasMore: boolean
  /** Whether, after this page, the reader has seen exactly what the page's snapshot sees: a cut. */
  readonly upToDate: boolean
}

/** The snapshot at hand is older than the cursor: nothing is delivered and nothing lost; ask again with the same cursor. */
export interface ChangesHeld {
  readonly held: true
  readonly cursor: string
  readonly retryAfterMs: number
}

/** The cursor cannot be served exactly. Continue with `from`, after reading the rows anew unless the reason is `pruned`. */
export interface ChangesResync {
  readonly resync: {
    readonly reason: ResyncReason
    /** For `pruned`, the oldest retained cursor; else the head. */
    readonly from: string
    readonly retryAfterMs?: number
  }
}

/** The answer of `readChanges`: test with `'resync' in answer`, then `'held' in answer`. */
export type ReadResult<T extends string = string> = ChangesPage<T> | ChangesHeld | ChangesResync
