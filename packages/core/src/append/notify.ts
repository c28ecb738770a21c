import type { Transaction } from 'kysely'
import type { GlobalAudience, TenantAudience } from '../audience.ts'
import type { FeedTable, KeyInput } from '../declaration.ts'
import type { Feed } from '../feed.ts'

/** One table's part of a {@link notify} call. */
export interface NotifyEntry<DB, TT, T extends FeedTable<DB, TT>> {
  readonly table: T
  /** Rows that changed: key values, or canonical key texts as in `Change.key`. Left out: the whole table changed. */
  readonly keys?: readonly (KeyInput<DB, TT, T> | string)[]
  /** Scope values of those rows by column; required with `keys` when the table declares scopes. */
  readonly scopes?: Readonly<Record<string, unknown>>
}

/** Request of {@link notify}: 1 to 100 entries, at most 10,000 keys in all. */
export interface NotifyRequest<DB, TT> {
  readonly entries: readonly { [T in FeedTable<DB, TT>]: NotifyEntry<DB, TT, T> }[FeedTable<DB, TT>][]
  /** Kept with the entries for operators, at most 200 characters. */
  readonly reason?: string
  /** Who did it. Default `external`. */
  readonly actor?: string
}

/** What {@link notify} and `appendChange` appended. */
export interface AppendResult {
  /** Read-your-writes token of the transaction: opaque text. Valid once it has committed. */
  readonly token: string
  readonly tables: readonly string[]
  readonly changes: number
}

export declare function notify<DB, TT>(
  feed: Feed<DB, TT>,
  transaction: Transaction<DB>,
  audience: TenantAudience | GlobalAudience,
  request: NotifyRequest<DB, TT>,
): Promise<AppendResult>
