import { identifier, qualified } from '../run.ts'
import { type CaptureOperation, captureOperations } from './capture-functions.ts'
import { CHANGED } from './captured-row.ts'
import { functionName, guardName, triggerName } from './names.ts'
import { type CapturePlan, trackedColumns } from './plan-capture.ts'
import { newRows, oldRows } from './statement-functions.ts'

/** A trigger that a captured table must have, or one of its partitions. */
export interface WantedTrigger {
  /** `null`: the guard. */
  readonly operation: CaptureOperation | null
  readonly relation: string
  /** Qualified name of the table it stands on. */
  readonly table: string
  readonly name: string
  /** What it is called in findings. */
  readonly label: string
  readonly function: string
  /** `pg_trigger.tgtype`. */
  readonly type: number
  readonly oldTable: string | null
  readonly newTable: string | null
  /** Fires only for rows that changed. */
  readonly ifChanged: boolean
  /** Column numbers it is limited to. */
  readonly columns: readonly number[]
  /** `pg_trigger.tgenabled`. */
  readonly enabled: 'A' | 'D'
  /** Postgres has made it as a copy of the parent's: it can be enabled, but neither made nor replaced. */
  readonly copy: boolean
  /** SQL behind the trigger's name. */
  readonly definition: string
}

const words: Readonly<Record<CaptureOperation, string>> = { c: 'insert', u: 'update', d: 'delete', t: 'truncate' }

// pg_trigger.tgtype
const ROW = 1
const eventBits: Readonly<Record<CaptureOperation, number>> = { c: 4, d: 8, u: 16, t: 32 }

const IF_CHANGED = `when (old.* ${CHANGED} new.*)`

/** All triggers of a table as planned: its own, its partitions', and the guard. */
export function wantedTriggers(plan: CapturePlan, schema: string, number: number): WantedTrigger[] {
  const { facts } = plan
  const root = { relation: facts.oid, table: qualified(facts) }
  const wanted = captureOperations.map((operation) => captureTrigger(plan, schema, number, operation, root, false))
  for (const partition of facts.partitions) {
    const place = { relation: partition.oid, table: qualified(partition) }
    for (const operation of captureOperations)
      wanted.push(captureTrigger(plan, schema, number, operation, place, operation !== 't'))
  }
  return [...wanted, guard(plan, schema, root)]
}

interface Place {
  readonly relation: string
  readonly table: string
}

function captureTrigger(
  plan: CapturePlan,
  schema: string,
  number: number,
  operation: CaptureOperation,
  place: Place,
  copy: boolean,
): WantedTrigger {
  const byRow = plan.level === 'row' && operation !== 't'
  const oldTable = !byRow && (operation === 'u' || operation === 'd') ? oldRows : null
  const newTable = !byRow && (operation === 'u' || operation === 'c') ? newRows : null
  const rows = [oldTable && `old table as ${oldTable}`, newTable && `new table as ${newTable}`].filter(Boolean)
  const ifChanged = byRow && operation === 'u'
  const call = `execute function ${identifier(schema)}.${functionName(number, operation)}()`
  return {
    ...place,
    operation,
    name: triggerName(schema, operation),
    label: `${words[operation]} trigger`,
    function: `${schema}.${functionName(number, operation)}`,
    type: eventBits[operation] + (byRow ? ROW : 0),
    oldTable,
    newTable,
    ifChanged,
    columns: [],
    enabled: 'A',
    copy,
    definition: [
      `after ${words[operation]} on ${place.table}`,
      ...(rows.length > 0 ? [`referencing ${rows.join(' ')}`] : []),
      `for each ${byRow ? 'row' : 'statement'}`,
      ...(ifChanged ? [IF_CHANGED] : []),
      call,
    ].join(' '),
  }
}

function guard(plan: CapturePlan, schema: string, place: Place): WantedTrigger {
  const columns = trackedColumns(plan)
  const names = columns.map(({ name }) => identifier(name))
  return {
    ...place,
    operation: null,
    name: guardName(schema),
    label: 'guard of the tracked columns',
    function: `${schema}.guard`,
    type: eventBits.u,
    oldTable: null,
    newTable: null,
    ifChanged: false,
    columns: columns.map(({ number }) => number),
    enabled: 'D',
    copy: false,
    definition: `after update of ${names.join(', ')} on ${place.table} for each statement execute function ${identifier(schema)}.guard()`,
  }
}
