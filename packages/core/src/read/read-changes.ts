import type { Transaction } from 'kysely'
import type { Audience } from '../audience.ts'
import type { ReadResult } from '../change.ts'
import type { FeedTable } from '../declaration.ts'
import type { Feed } from '../feed.ts'

/** Request of {@link readChanges}. */
export interface ReadChangesRequest<DB, T extends string> {
  /**
   * Where to begin: a cursor as returned before, `'start'` (the oldest retained change) or `'now'` (an empty page that holds the head
   * cursor). Required: a forgotten cursor must not silently start anew.
   */
  readonly since: string
  /** A view on the feed: changes of other tables are passed over. Changing it does not rewind. Default: all declared tables. */
  readonly tables?: readonly T[]
  /** How many changes (keys) at most, 1 to 5,000. Default 500. */
  readonly limit?: number
  /** Reads in this `repeatable read` transaction, which must not have written. Default: a transaction of its own, read only. */
  readonly transaction?: Transaction<DB>
}

export declare function readChanges<DB, TT, T extends FeedTable<DB, TT> = FeedTable<DB, TT>>(
  feed: Feed<DB, TT>,
  audience: Audience,
  request: ReadChangesRequest<DB, T>,
): Promise<ReadResult<T>>
