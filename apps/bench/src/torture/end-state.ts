import type { Change } from '@tidemark/core'
import type { RowSet } from './existing-rows.ts'
import type { LoggedEntry } from './log-truth.ts'
import type { TortureTable } from './tables.ts'

/** A table read anew because a table-level entry came: what was there then. */
export interface Reread {
  /** Changes the chain had been given by then. */
  readonly after: number
  readonly rows: RowSet
}

interface Known {
  readonly present: boolean
  readonly entry: number
  readonly ordinal: number
}

/** Rows by tenant and key. */
type Replica = Map<TortureTable, Map<string, Known>>

/**
 * The replica that a reader of this chain has built from nothing but the feed's keys and operations, by the readers' rules: a row is known by tenant and key,
 * create and update are alike, repeats are folded, of two changes of a row the one with the larger position counts, and after a table-level entry
 * the table is read anew; what comes after that is looked at whatever its position. Returns the rows in which the replica differs from the tables.
 *
 * @param start rows the reader began with: none, or what it loaded when it began from now.
 * @param end the rows of the chain's audience and tables after the run.
 */
export function replicaFaults(
  {
    deliveries,
    baseRows,
    rereads,
  }: {
    readonly deliveries: readonly Change<TortureTable>[]
    readonly baseRows: RowSet
    readonly rereads: readonly Reread[]
  },
  log: ReadonlyMap<number, LoggedEntry>,
  end: RowSet,
): string[] {
  const replica: Replica = new Map([...end.keys()].map((table) => [table, new Map()]))
  load(replica, baseRows)
  let next = 0
  const rereadUntil = (given: number): void => {
    for (let reread = rereads[next]; reread !== undefined && reread.after <= given; reread = rereads[next]) {
      load(replica, reread.rows)
      next += 1
    }
  }
  for (const [given, change] of deliveries.entries()) {
    rereadUntil(given)
    apply(replica, change, log)
  }
  rereadUntil(deliveries.length)
  return differences(replica, end)
}

const placeOf = (tenant: string | null, key: string): string => JSON.stringify([tenant, key])

/** Rows as read: no position is known of them. */
function load(replica: Replica, rows: RowSet): void {
  for (const [table, ofTable] of rows) {
    const known = [...ofTable].map(
      ([key, { tenant }]) => [placeOf(tenant, key), { present: true, entry: 0, ordinal: 0 }] as const,
    )
    replica.set(table, new Map(known))
  }
}

function apply(
  replica: Replica,
  { table, tenant, key, operation, position }: Change<TortureTable>,
  log: ReadonlyMap<number, LoggedEntry>,
): void {
  const entry = Number(position.entry)
  // An explicit entry announces a row that nobody need have written here.
  if (key === null || log.get(entry)?.explicit === true) return
  const rows = replica.get(table)
  const place = placeOf(tenant, key)
  const known = rows?.get(place)
  if (known !== undefined && (known.entry > entry || (known.entry === entry && known.ordinal > position.ordinal)))
    return
  rows?.set(place, { present: operation !== 'delete', entry, ordinal: position.ordinal })
}

function differences(replica: Replica, end: RowSet): string[] {
  const faults: string[] = []
  for (const [table, rows] of end) {
    const mine = replica.get(table) ?? new Map<string, Known>()
    const places = new Set([...rows].map(([key, { tenant }]) => placeOf(tenant, key)))
    for (const [place, { present }] of mine) {
      if (present !== places.has(place))
        faults.push(`${table} ${place}: ${present ? 'kept, but gone' : 'dropped, but there'}`)
    }
    for (const place of places) if (!mine.has(place)) faults.push(`${table} ${place}: never announced`)
  }
  return faults
}
