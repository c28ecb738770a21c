import { InvalidInputError, notify as appendNotice } from '@tidemark/core'
import type { Feed, GlobalAudience, NotifyRequest, TenantAudience } from '@tidemark/core'
import type { NotifyInput, NotifyOutput } from '../protocol.ts'
import { SyncError } from '../errors/sync-error.ts'
import type { SyncPermission } from './options.ts'
import { declaredTable } from './tables.ts'

/** Fails unless the caller has a permission. */
export type RequirePermission = (permission: SyncPermission) => Promise<void>

/** Appends announcements to the caller's own feed, in a transaction of their own. */
export async function notify<DB, TT>(
  feed: Feed<DB, TT>,
  audience: TenantAudience | GlobalAudience,
  { entries, reason }: NotifyInput,
  requirePermission: RequirePermission,
): Promise<NotifyOutput> {
  const declared = entries.map(({ table }, i) => declaredTable(feed.tables, table, `entries[${i}].table`))
  // Where there are no tenants, nothing reaches further than anything else.
  if (feed.tenancy === 'required' && declared.some(({ tenant }) => tenant === null)) {
    await requirePermission('tidemark:notify-global')
  }
  // `declaredTable` has checked the names that the types ask for. The actor is never the caller's to say.
  const request = {
    entries: entries.map(({ table, keys, scopes }) => ({
      table,
      ...(keys === undefined ? {} : { keys }),
      ...(scopes === undefined ? {} : { scopes }),
    })),
    actor: 'external',
    ...(reason === undefined ? {} : { reason }),
  } as unknown as NotifyRequest<DB, TT>
  try {
    const { token, tables, changes } = await feed.db
      .transaction()
      .execute((transaction) => appendNotice(feed, transaction, audience, request))
    return { token, tables, changes }
  } catch (error) {
    throw withoutTransaction(error)
  }
}

// What Postgres could not cast, core explains to whoever holds the transaction. Here that is this file, and it is rolled
// back by now.
function withoutTransaction(error: unknown): unknown {
  if (!(error instanceof InvalidInputError) || !/transaction/i.test(error.message)) return error
  const { field } = error
  const message = `"${field}": a key or scope value cannot be cast to its column's type; nothing was appended`
  return new SyncError('invalidInput', { field, message, cause: error })
}
