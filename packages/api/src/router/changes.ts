import { readChanges } from '@tidemark/core'
import type { Audience, Change, Feed, FeedTable, ReadResult } from '@tidemark/core'
import { syncLimits } from '../limits.ts'
import type { ChangesInput, ChangesOutput, WireChange } from '../protocol.ts'
import { refuseScopedTables } from './tables.ts'

/** Reads a page of the caller's feed. */
export async function changes<DB, TT>(
  feed: Feed<DB, TT>,
  audience: Audience,
  { since, tables, limit = syncLimits.defaultPageChanges }: ChangesInput,
): Promise<ChangesOutput> {
  refuseScopedTables(feed.tables, tables)
  const known = tables as readonly FeedTable<DB, TT>[] | undefined
  const answer = await readChanges(feed, audience, { since, limit, ...(known === undefined ? {} : { tables: known }) })
  return toOutput(answer)
}

// Field by field, so that what core adds to its answers stays inside until it is given out on purpose.
function toOutput(answer: ReadResult): ChangesOutput {
  if ('resync' in answer) {
    const { reason, from, retryAfterMs } = answer.resync
    return { resync: { reason, from, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } }
  }
  if ('held' in answer) return { held: true, cursor: answer.cursor, retryAfterMs: answer.retryAfterMs }
  const { cursor, hasMore, upToDate } = answer
  return { changes: answer.changes.map(toWire), cursor, hasMore, upToDate }
}

// Position and transaction stay behind because no caller needs them, not as a secret: a cursor and a token of `notify`
// carry such ids in clear (docs/cursor.md). Of the tenant `global` says all that is not the caller's own.
function toWire({ table, key, operation, tenant, at }: Change): WireChange {
  return { table, key, operation, global: tenant === null, at }
}
