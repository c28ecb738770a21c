import type { Transaction } from 'kysely'
import type { GlobalAudience, TenantAudience } from '../audience.ts'
import type { Operation } from '../change.ts'
import type { FeedTable } from '../declaration.ts'
import type { Feed } from '../feed.ts'
import type { AppendResult, NotifyEntry } from './notify.ts'

/** Request of {@link appendChange}. */
export interface AppendRequest<DB, TT, T extends FeedTable<DB, TT>> extends NotifyEntry<DB, TT, T> {
  /** `invalidate` exactly when `keys` is left out. */
  readonly operation: Operation
}

export declare function appendChange<DB, TT, T extends FeedTable<DB, TT>>(
  feed: Feed<DB, TT>,
  transaction: Transaction<DB>,
  audience: TenantAudience | GlobalAudience,
  request: AppendRequest<DB, TT, T>,
): Promise<AppendResult>
