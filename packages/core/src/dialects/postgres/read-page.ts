import { parseSnapshot, unsettledIn } from '../../cursor/snapshot.ts'
import { NotMigratedError } from '../../errors.ts'
import type { EntryList, LogEntry, OperationCode } from '../../read/plan-page.ts'
import type { AnyTransaction, FeedSetup, PageRead, PageRequest } from '../dialect.ts'
import { ENTRIES_PER_PAGE, headStatement, pageStatement } from './read-statements.ts'
import { integerArray, isMissingObject, type Param, run } from './run.ts'

interface HeadRow {
  snap: string
  beyond: string
  written: string
  isolation: string
  recovery: string
  epoch: string | null
  floor_id: string
  floor_xid: string
  max: string
}

interface PageRow extends HeadRow {
  s_found: string
  s_last: string | null
  s_kept_last: string | null
  s_dropped: string
  s_entries: string | null
  f_found: string | null
  f_last: string | null
  f_kept_last: string | null
  f_dropped: string | null
  f_entries: string | null
}

const nothing: EntryList = { entries: [], exhausted: true, lastId: 0n }
const maxXid = (1n << 63n) - 1n

/** Runs the read statement for `request` and gives its row the planner's shape. */
export async function readPage(setup: FeedSetup, trx: AnyTransaction, request: PageRequest): Promise<PageRead> {
  const lookAt = Math.max(ENTRIES_PER_PAGE, request.limit) + 1
  try {
    if (request.cursor === null) {
      const params = request.audience.kind === 'tenant' ? [request.audience.tenant] : []
      const [row] = await run<HeadRow>(trx, headStatement(setup.schema, request.audience.kind), params)
      return pageRead(required(row), nothing, nothing)
    }
    const text = pageStatement(setup.schema, request.audience.kind, request.cursor.drain !== null)
    const [found] = await run<PageRow>(trx, text, pageParams(request, lookAt))
    const row = required(found)
    const stragglers = entryList(row.s_found, row.s_last, row.s_kept_last, row.s_dropped, row.s_entries, lookAt)
    const fresh = entryList(row.f_found, row.f_last, row.f_kept_last, row.f_dropped, row.f_entries, lookAt)
    return pageRead(row, stragglers, fresh)
  } catch (error) {
    if (isMissingObject(error)) throw new NotMigratedError('the feed is not installed in this database')
    throw error
  }
}

function pageParams({ cursor, audience, tables, limit }: PageRequest, lookAt: number): Param[] {
  if (cursor === null) throw new Error('a page needs a cursor')
  const params: Param[] = [String(cursor.hw), cursor.part, integerArray(tables), limit, lookAt]
  if (cursor.drain === null) {
    // Nothing lies at or below 0: no straggler to look for, however old the snapshot.
    const unsettled = cursor.hw === 0n ? { list: [], from: 0n, below: 0n } : unsettledIn(cursor.snap)
    params.push(integerArray(unsettled.list), String(unsettled.from), String(unsettled.below ?? maxXid))
  } else {
    const { to, after, part } = cursor.drain
    params.push(integerArray(cursor.snap.xip), String(cursor.snap.xmax), String(to.xmax), integerArray(to.xip), String(after), part)
  }
  if (audience.kind === 'tenant') params.push(audience.tenant)
  return params
}

function pageRead(row: HeadRow, stragglers: EntryList, fresh: EntryList): PageRead {
  if (row.epoch === null) throw new NotMigratedError('the feed is not installed in this database')
  const bare = parseSnapshot(row.snap, null)
  return {
    view: {
      now: { ...bare, next: bare.xmax + BigInt(row.beyond) },
      floor: { id: BigInt(row.floor_id), xid: BigInt(row.floor_xid) },
      max: BigInt(row.max),
      stragglers,
      fresh,
    },
    epoch: row.epoch,
    hasWritten: row.written === 'true',
    isolation: row.isolation,
    standby: row.recovery === 'true',
  }
}

type JsonEntry = [string, string, number, OperationCode, string | null, string, number, number, (string | null)[] | null]

function entryList(
  found: string | null,
  last: string | null,
  keptLast: string | null,
  dropped: string | null,
  json: string | null,
  lookAt: number,
): EntryList {
  const parsed: JsonEntry[] = json === null ? [] : (JSON.parse(json) as JsonEntry[])
  const entries = parsed.map(
    ([id, tx, table, op, tenant, at, from, count, keys]): LogEntry => ({
      id: BigInt(id),
      tx: BigInt(tx),
      table,
      op,
      tenant,
      at,
      from,
      count,
      keys,
    }),
  )
  // What the limit cut off lies behind the last kept entry; unwanted entries behind that one are looked at again.
  if (dropped !== null && dropped !== '0') return { entries, exhausted: false, lastId: BigInt(keptLast ?? '0') }
  return { entries, exhausted: Number(found ?? 0) < lookAt, lastId: BigInt(last ?? '0') }
}

function required<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a read statement returned no row')
  return row
}
