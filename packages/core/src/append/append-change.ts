import type { Transaction } from 'kysely'
import type { GlobalAudience, TenantAudience } from '../audience.ts'
import type { Operation } from '../change.ts'
import type { FeedTable } from '../declaration.ts'
import { InvalidInputError } from '../errors.ts'
import type { Feed } from '../feed.ts'
import { appendExplicit, requireObject } from './append-explicit.ts'
import type { AppendResult, NotifyEntry } from './notify.ts'

/** Request of {@link appendChange}. */
export interface AppendRequest<DB, TT, T extends FeedTable<DB, TT>> extends NotifyEntry<DB, TT, T> {
  /** `invalidate` exactly when `keys` is left out. */
  readonly operation: Operation
}

/**
 * Appends one entry in the caller's transaction, for a write that no trigger sees, with the operation said. Like `notify`, which takes several
 * tables at once; both mark their entries as explicit.
 *
 * @throws {InvalidInputError} naming the field.
 *
 * @example
 * await appendChange(feed, trx, tenant('acme'), { table: 'shipments', operation: 'delete', keys: [17] })
 */
export async function appendChange<DB, TT, T extends FeedTable<DB, TT>>(
  feed: Feed<DB, TT>,
  transaction: Transaction<DB>,
  audience: TenantAudience | GlobalAudience,
  request: AppendRequest<DB, TT, T>,
): Promise<AppendResult> {
  requireObject('request', request)
  const { operation } = request
  if (!['create', 'update', 'delete', 'invalidate'].includes(operation)) {
    throw new InvalidInputError('operation', "must be 'create', 'update', 'delete' or 'invalidate'")
  }
  if ((operation === 'invalidate') !== (request.keys === undefined)) {
    throw new InvalidInputError(
      'keys',
      "must be given, unless the operation is 'invalidate', which speaks of the whole table",
    )
  }
  return appendExplicit(feed, transaction, audience, [{ entry: request, operation, field: '' }], {
    reason: null,
    actor: null,
  })
}
