import type { Transaction } from 'kysely'
import type { GlobalAudience, TenantAudience } from '../audience.ts'
import type { FeedTable, KeyInput, ScopesInput } from '../declaration.ts'
import { InvalidInputError } from '../errors.ts'
import type { Feed } from '../feed.ts'
import { appendExplicit, type LooseEntry, requireNote, requireObject } from './append-explicit.ts'

const MAX_ENTRIES = 100

/** One table's part of a {@link notify} call. */
export interface NotifyEntry<DB, TT, T extends FeedTable<DB, TT>> {
  readonly table: T
  /** Rows that changed: key values, or canonical key texts as in `Change.key`. Left out: the whole table changed. */
  readonly keys?: readonly (KeyInput<DB, TT, T> | string)[]
  /** Scope values of those rows by column; required with `keys` when the table declares scopes. */
  readonly scopes?: ScopesInput<TT, T>
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

/**
 * Announces writes that no trigger saw, in the transaction that made them or in one of its own: rows changed elsewhere, DDL that rewrote
 * rows, data loaded with triggers off. Readers get `update` for named keys and `invalidate` for a whole table.
 *
 * The entries become visible when `transaction` commits and vanish when it rolls back. Call it after the write it speaks of.
 *
 * @param audience whose rows: `tenant(id)`, or `globalOnly`, with which a tenant table can only be announced as a whole, to all its tenants.
 * @throws {InvalidInputError} naming the field. When a key cannot be cast to its column's type Postgres has already aborted `transaction`: roll it back.
 *
 * @example
 * await db.transaction().execute(async (trx) => {
 *   await notify(feed, trx, tenant('acme'), { entries: [{ table: 'shipments', keys: [17] }], reason: 'import' })
 * })
 */
export async function notify<DB, TT>(
  feed: Feed<DB, TT>,
  transaction: Transaction<DB>,
  audience: TenantAudience | GlobalAudience,
  request: NotifyRequest<DB, TT>,
): Promise<AppendResult> {
  requireObject('request', request)
  const { entries, reason = null, actor = 'external' } = request
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_ENTRIES) {
    throw new InvalidInputError('entries', `must be a list of 1 to ${MAX_ENTRIES} entries`)
  }
  requireNote('reason', reason)
  requireNote('actor', actor)
  const asked = (entries as readonly LooseEntry[]).map((entry, i) => {
    const field = `entries[${i}]`
    requireObject(field, entry)
    return { entry, operation: entry.keys === undefined ? ('invalidate' as const) : ('update' as const), field }
  })
  return appendExplicit(feed, transaction, audience, asked, { reason, actor })
}
