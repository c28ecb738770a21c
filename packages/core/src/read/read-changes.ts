import type { Transaction } from 'kysely'
import { type Audience, isAudience, requireTenancy } from '../audience.ts'
import type { Change, Operation, ReadResult, ResyncReason } from '../change.ts'
import { audienceHash, decodeCursor, encodeCursor } from '../cursor/codec.ts'
import { baseSnapshot, type Cursor } from '../cursor/cursor.ts'
import type { FeedTable } from '../declaration.ts'
import type { AnyTransaction, Catalogue, PageRead, ReadAudience } from '../dialects/dialect.ts'
import {
  InvalidCursorError,
  InvalidInputError,
  IsolationLevelError,
  NotMigratedError,
  StandbyError,
  UnknownTableError,
  WritingTransactionError,
} from '../errors.ts'
import type { Feed } from '../feed.ts'
import { type FeedInternals, internalsOf } from '../internal/internals.ts'
import {
  headCursor,
  oldestCursor,
  type OperationCode,
  type PagePlan,
  type PlannedChange,
  planPage,
} from './plan-page.ts'

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
  /**
   * Reads in this `repeatable read` transaction, which must not have written. A cursor newer than its snapshot is held, also one that would be
   * `resync: ahead` outside. A tenant that cannot be cast aborts it. Default: a transaction of its own, read only.
   */
  readonly transaction?: Transaction<DB>
}

/** How many changes a page holds when nothing is said, and at most. */
const DEFAULT_LIMIT = 500
const MAX_LIMIT = 5000

/** Wait advised when the snapshot at hand is older than the cursor, in milliseconds. */
const HELD_RETRY_MS = 200

/**
 * Reads the next page of changes after `since`, exactly: over a chain of cursors every committed change of the audience is
 * delivered once, whatever writers do meanwhile, and changes of one row in the order in which they happened (docs/cursor.md).
 *
 * The server keeps nothing per reader: any process may answer any cursor. Never waits for writers and never makes one wait. Costs one
 * statement in a read-only transaction (two for `'start'`, one more for a tenant not seen lately), index-bound: the page, not the backlog.
 *
 * @param audience whose changes: `tenant(id)`, `globalOnly` or `allTenants(reason)`. In a feed with `tenancy: 'none'` use `globalOnly`.
 * @returns a page, or `held` (ask again), or `resync` with the reason. Both are ordinary answers, not errors.
 * @throws {InvalidInputError} {@link InvalidCursorError} {@link UnknownTableError} for arguments of the wrong shape;
 *   `InvalidTenantError` when Postgres cannot cast the tenant; {@link NotMigratedError} before `feed.migrate()`; {@link WritingTransactionError},
 *   {@link IsolationLevelError} for an unsuitable `transaction`; {@link StandbyError} on a hot standby.
 *
 * @example
 * let since = 'start'
 * for (;;) {
 *   const answer = await readChanges(feed, allTenants('search index'), { since })
 *   if ('resync' in answer) { since = answer.resync.from; await rebuildIndex(); continue }
 *   if ('held' in answer) { await sleep(answer.retryAfterMs); continue }
 *   await index(answer.changes)
 *   since = answer.cursor // keep it only after the page is applied
 *   if (!answer.hasMore) await sleep(1000)
 * }
 */
export async function readChanges<DB, TT, T extends FeedTable<DB, TT> = FeedTable<DB, TT>>(
  feed: Feed<DB, TT>,
  audience: Audience,
  request: ReadChangesRequest<DB, T>,
): Promise<ReadResult<T>> {
  const internals = internalsOf(feed)
  const checked = checkRequest(internals, audience, request)
  const { transaction } = request
  // The catalogue may have been loaded before a table was tracked or the feed installed anew: then it is loaded once more.
  for (let attempt = 1; ; attempt++) {
    const catalogue = attempt === 1 ? await internals.catalogue(transaction) : await internals.reload(transaction)
    const result = await readOnce(internals, catalogue, audience, checked, transaction)
    if (result !== null) return result as ReadResult<T>
    if (attempt === MAX_ATTEMPTS) {
      throw new NotMigratedError('the feed, or the capture of a table that is asked for, is not installed')
    }
  }
}

/** Attempts at a read while the installation changes under it. */
const MAX_ATTEMPTS = 3

interface CheckedRequest {
  readonly since: 'start' | 'now' | { readonly text: string }
  readonly tables: readonly string[]
  readonly limit: number
}

function checkRequest(
  internals: FeedInternals,
  audience: Audience,
  request: Omit<ReadChangesRequest<never, string>, 'transaction'>,
): CheckedRequest {
  if (!isAudience(audience))
    throw new InvalidInputError('audience', 'must be made by tenant(), allTenants() or be globalOnly')
  requireTenancy(audience, internals.setup.tenancy)
  const { since, limit = DEFAULT_LIMIT, tables } = request
  if (typeof since !== 'string') throw new InvalidInputError('since', "is required: a cursor, 'start' or 'now'")
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new InvalidInputError('limit', `must be a whole number from 1 to ${MAX_LIMIT}`)
  }
  if (tables !== undefined && (!Array.isArray(tables) || tables.length === 0)) {
    throw new InvalidInputError('tables', 'must be a list of at least one table, or be left out')
  }
  for (const table of tables ?? []) if (!internals.setup.tables.has(table)) throw new UnknownTableError()
  return {
    since: since === 'start' || since === 'now' ? since : { text: since },
    tables: tables ?? [...internals.setup.tables.keys()],
    limit,
  }
}

/** One attempt; `null` when the catalogue does not know a table, or turns out to be older than the database. */
async function readOnce(
  internals: FeedInternals,
  catalogue: Catalogue,
  audience: Audience,
  request: CheckedRequest,
  transaction: AnyTransaction | undefined,
): Promise<ReadResult | null> {
  const { setup, dialect } = internals
  const numbers: number[] = []
  for (const name of request.tables) {
    const installed = catalogue.byName.get(name)
    if (installed === undefined) return null
    numbers.push(installed.number)
  }
  const whose = await resolveAudience(internals, catalogue, audience, transaction)
  const reader: Reader = {
    catalogue,
    whose,
    hash: audienceHash(whose.kind, whose.kind === 'tenant' ? whose.tenant : null),
  }
  const given = typeof request.since === 'object' ? decodeCursor(request.since.text) : null
  if (given?.kind === 'malformed') throw new InvalidCursorError()

  const within = async (trx: AnyTransaction): Promise<ReadResult | 'check-ahead' | null> => {
    const read = (cursor: Cursor | null): Promise<PageRead> =>
      dialect.readPage(setup, trx, { audience: whose, cursor, tables: numbers, limit: request.limit })
    const mine = given?.kind === 'cursor' ? given.envelope : null
    const first = await read(mine?.cursor ?? null)
    requireUsable(first)
    if (first.version !== catalogue.version) return null

    if (given?.kind === 'foreign-format') return resync(reader, first, 'format')
    if (mine !== null) {
      if (mine.epoch !== first.epoch) return resync(reader, first, 'epoch')
      if (mine.audience !== reader.hash) return resync(reader, first, 'audience')
      return answer(reader, first, planPage(mine.cursor, first.view, request.limit))
    }
    if (request.since === 'now') {
      return {
        changes: [],
        cursor: cursorText(reader, first.epoch, headCursor(first.view)),
        hasMore: false,
        upToDate: true,
      }
    }
    if (first.view.floor.id > 0n) return resync(reader, first, 'pruned')
    const oldest = oldestCursor(first.view)
    const page = await read(oldest)
    return answer(reader, page, planPage(oldest, page.view, request.limit))
  }

  const result = transaction === undefined ? await dialect.readOnly(setup, within) : await within(transaction)
  if (result !== 'check-ahead') return result
  // Held: either this server will get there, or the cursor speaks of transactions it never had. Only a new transaction can tell, and inside the caller's
  // none is begun: it would wait for a connection while this one is held.
  if (given?.kind !== 'cursor' || typeof request.since !== 'object') throw new Error('only a cursor can be held')
  if (transaction !== undefined || !(await dialect.isAhead(setup, baseSnapshot(given.envelope.cursor).xmax - 1n))) {
    return { held: true, cursor: request.since.text, retryAfterMs: HELD_RETRY_MS }
  }
  const head = await dialect.readOnly(setup, (trx) =>
    dialect.readPage(setup, trx, { audience: whose, cursor: null, tables: numbers, limit: request.limit }),
  )
  return resync(reader, head, 'ahead')
}

interface Reader {
  readonly catalogue: Catalogue
  readonly whose: ReadAudience
  readonly hash: string
}

async function resolveAudience(
  internals: FeedInternals,
  catalogue: Catalogue,
  audience: Audience,
  transaction: AnyTransaction | undefined,
): Promise<ReadAudience> {
  if (audience.kind !== 'tenant') return { kind: audience.kind }
  return { kind: 'tenant', tenant: await internals.canonicalTenant(catalogue, audience.tenant, transaction) }
}

function requireUsable(read: PageRead): void {
  if (read.standby) throw new StandbyError()
  if (read.hasWritten) throw new WritingTransactionError()
  if (read.isolation !== 'repeatable read') throw new IsolationLevelError()
}

function cursorText(reader: Reader, epoch: string, cursor: Cursor): string {
  return encodeCursor({ epoch, audience: reader.hash, cursor })
}

function resync(reader: Reader, read: PageRead, reason: ResyncReason): ReadResult {
  const from = reason === 'pruned' ? oldestCursor(read.view) : headCursor(read.view)
  return { resync: { reason, from: cursorText(reader, read.epoch, from) } }
}

function answer(reader: Reader, read: PageRead, plan: PagePlan): ReadResult | 'check-ahead' {
  switch (plan.kind) {
    case 'held':
      return 'check-ahead'
    case 'pruned':
      return resync(reader, read, 'pruned')
    case 'page':
      return {
        changes: plan.changes.map((planned) => change(reader.catalogue, planned)),
        cursor: cursorText(reader, read.epoch, plan.cursor),
        hasMore: plan.hasMore,
        upToDate: !plan.hasMore,
      }
  }
}

const operations: Readonly<Record<OperationCode, Operation>> = {
  c: 'create',
  u: 'update',
  d: 'delete',
  i: 'invalidate',
}

function change(catalogue: Catalogue, { entry, ordinal, key }: PlannedChange): Change {
  const table = catalogue.byNumber.get(entry.table)
  if (table === undefined) throw new Error('an entry of a table that was not asked for')
  return {
    table: table.name,
    operation: operations[entry.op],
    key,
    tenant: entry.tenant,
    at: entry.at,
    position: { entry: String(entry.id), ordinal },
    tx: String(entry.tx),
  }
}
