import { CapturedRow } from './captured-row.ts'
import type { CapturePlan } from './plan-capture.ts'
import { rowDelete, rowInsert, rowUpdate } from './row-functions.ts'
import { statementDelete, statementInsert, statementUpdate } from './statement-functions.ts'

/** Version of the generated functions. A process never replaces functions of a newer version. */
export const CAPTURE_VERSION = 3

export const captureOperations = ['c', 'u', 'd', 't'] as const
/** Create, update, delete, truncate. */
export type CaptureOperation = (typeof captureOperations)[number]

const bodies = {
  statement: { c: statementInsert, u: statementUpdate, d: statementDelete, t: truncate },
  row: { c: rowInsert, u: rowUpdate, d: rowDelete, t: truncate },
}

/** Body of the function for `operation`; deterministic, so that it can be compared with what is installed. */
export function captureBody(plan: CapturePlan, operation: CaptureOperation, schema: string, number: number): string {
  return bodies[plan.level][operation](new CapturedRow(plan, schema, number))
}

/** Settings a function runs under, as `pg_proc.proconfig` holds them. */
export function captureSettings({ reusesKeys }: CapturePlan, operation: CaptureOperation): readonly string[] {
  const looksUp = reusesKeys && (operation === 'u' || operation === 'd')
  // A session may have switched row security off, as restore tools do: then a look-up behind a policy would fail, though that policy shows all rows. And it could have
  // the planner evaluate the table's check constraints, with this role's rights.
  return ['search_path=pg_catalog, pg_temp', ...(looksUp ? ['row_security=on', 'constraint_exclusion=off'] : [])]
}

function truncate(row: CapturedRow): string {
  return `
begin
  ${row.invalidate}
  return null;
end
`
}
