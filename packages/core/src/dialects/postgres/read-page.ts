import type { Cursor } from '../../cursor/cursor.ts'
import { parseSnapshot, unsettledIn } from '../../cursor/snapshot.ts'
import { NotMigratedError } from '../../errors.ts'
import type { EntryList, LogEntry, OperationCode } from '../../read/plan-page.ts'
import type { AnyTransaction, FeedSetup, PageRead, PageRequest } from '../dialect.ts'
import {
  ENTRIES_PER_PAGE,
  headStatement,
  pageStatement,
  type ReadParams,
  type ReadStatement,
  type Stragglers,
} from './read-statements.ts'
import { epochOf } from './catalogue.ts'
import { integerArray, isMissingObject, run } from './run.ts'

interface HeadRow {
  snap: string
  beyond: string
  written: string
  isolation: string
  recovery: string
  version: string | null
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
  const { cursor, audience } = request
  try {
    if (cursor === null) {
      const [row] = await runRead<HeadRow>(trx, headStatement(setup.schema, audience.kind), headParams(request))
      return pageRead(required(row), nothing, nothing)
    }
    const { stragglers, params } = pageParams(request, cursor, lookAt)
    const [found] = await runRead<PageRow>(trx, pageStatement(setup.schema, audience.kind, stragglers), params)
    const row = required(found)
    const late = entryList(row.s_found, row.s_last, row.s_kept_last, row.s_dropped, row.s_entries, lookAt)
    const fresh = entryList(row.f_found, row.f_last, row.f_kept_last, row.f_dropped, row.f_entries, lookAt)
    return pageRead(row, late, fresh)
  } catch (error) {
    if (isMissingObject(error)) throw new NotMigratedError('the feed is not installed in this database')
    throw error
  }
}

function runRead<Row>(
  trx: AnyTransaction,
  { text, names }: ReadStatement,
  params: Partial<ReadParams>,
): Promise<Row[]> {
  const values = names.map((name) => {
    const value = params[name]
    if (value === undefined) throw new Error(`a read statement wants "${name}"`)
    return value
  })
  return run<Row>(trx, text, values)
}

function headParams({ audience }: PageRequest): Partial<ReadParams> {
  return audience.kind === 'tenant' ? { tenant: audience.tenant } : {}
}

function pageParams(
  request: PageRequest,
  { hw, part, snap, drain }: Cursor,
  lookAt: number,
): { readonly stragglers: Stragglers; readonly params: Partial<ReadParams> } {
  const shared = {
    ...headParams(request),
    hw: String(hw),
    tables: integerArray(request.tables),
    limit: request.limit,
    lookAt,
  }
  if (drain !== null) {
    const params = {
      ...shared,
      snapXmax: String(snap.xmax),
      snapXip: integerArray(snap.xip),
      toXmax: String(drain.to.xmax),
      toXip: integerArray(drain.to.xip),
      after: String(drain.after),
      afterPart: drain.part,
    }
    return { stragglers: 'draining', params }
  }
  const { list, from, below } = unsettledIn(snap)
  const params = {
    ...shared,
    part,
    unsettled: integerArray(list),
    unsettledFrom: String(from),
    unsettledBelow: String(below ?? maxXid),
  }
  // Nothing lies at or below 0: no straggler to look for, however old the snapshot.
  if (hw === 0n || (list.length === 0 && below === from)) return { stragglers: 'none', params }
  return { stragglers: below === from ? 'listed' : 'ranged', params }
}

function pageRead(row: HeadRow, stragglers: EntryList, fresh: EntryList): PageRead {
  if (row.version === null) throw new NotMigratedError('the feed is not installed in this database')
  const bare = parseSnapshot(row.snap, null)
  return {
    view: {
      now: { ...bare, next: bare.xmax + BigInt(row.beyond) },
      floor: { id: BigInt(row.floor_id), xid: BigInt(row.floor_xid) },
      max: BigInt(row.max),
      stragglers,
      fresh,
    },
    epoch: epochOf(row.version),
    version: row.version,
    hasWritten: row.written === 'true',
    isolation: row.isolation,
    standby: row.recovery === 'true',
  }
}

type JsonEntry = [
  string,
  string,
  number,
  OperationCode,
  string | null,
  string,
  number,
  number,
  (string | null)[] | null,
]

function entryList(
  found: string | null,
  last: string | null,
  keptLast: string | null,
  dropped: string | null,
  json: string | null,
  lookAt: number,
): EntryList {
  const parsed: JsonEntry[] = json === null ? [] : (JSON.parse(json) as JsonEntry[])
  const entries = parsed.map(([id, tx, table, op, tenant, at, from, count, keys]): LogEntry => ({
    id: BigInt(id),
    tx: BigInt(tx),
    table,
    op,
    tenant,
    at,
    from,
    count,
    keys,
  }))
  // What the limit cut off lies behind the last kept entry; unwanted entries behind that one are looked at again.
  if (dropped !== null && dropped !== '0') return { entries, exhausted: false, lastId: BigInt(keptLast ?? '0') }
  return { entries, exhausted: Number(found ?? 0) < lookAt, lastId: BigInt(last ?? '0') }
}

function required<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a read statement returned no row')
  return row
}
