import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { AnyKysely, AnyTransaction, CataloguedColumn } from '../dialect.ts'
import {
  CAPTURE_VERSION,
  captureBody,
  type CaptureOperation,
  captureOperations,
  newRows,
  oldRows,
} from './capture-functions.ts'
import type { CapturedColumn, CapturePlan } from './plan-capture.ts'
import { identifier, run } from './run.ts'

/** A tracked table as the feed's catalogue and the database's catalogue hold it. */
export interface Tracked {
  readonly number: number
  readonly name: string
  /** `null` once untracked. */
  readonly relation: string | null
  readonly key: readonly CataloguedColumn[]
  readonly tenant: CataloguedColumn | null
  readonly scopes: readonly CataloguedColumn[]
  readonly captureVersion: number
  readonly triggers: readonly TriggerFacts[]
}

/** A trigger of the feed as the database's catalogue holds it. */
export interface TriggerFacts {
  readonly name: string
  readonly enabled: string
  readonly type: number
  readonly restricted: boolean
  readonly oldTable: string | null
  readonly newTable: string | null
  readonly function: string
  readonly bodyHash: string
  readonly definer: boolean
  readonly config: readonly string[] | null
  readonly owner: string
  readonly publicMayExecute: boolean
}

/** `"!<schema>_<op>"`: sorts before every other trigger, and two feeds on one table do not collide (docs/capture.md, rules 13 and 28). */
export function triggerName(schema: string, operation: CaptureOperation): string {
  return `!${schema}_${operation}`
}

export function functionName(number: number, operation: CaptureOperation): string {
  return `c${number}_${operation}`
}

/** AFTER STATEMENT triggers in `pg_trigger.tgtype`'s bits. */
const triggerTypes: Readonly<Record<CaptureOperation, number>> = { c: 4, d: 8, u: 16, t: 32 }

/** SQL after `create trigger name` for each operation. */
export const triggerEvents: Readonly<
  Record<CaptureOperation, { readonly event: string; readonly referencing: string }>
> = {
  c: { event: 'insert', referencing: `referencing new table as ${newRows}` },
  u: { event: 'update', referencing: `referencing old table as ${oldRows} new table as ${newRows}` },
  d: { event: 'delete', referencing: `referencing old table as ${oldRows}` },
  t: { event: 'truncate', referencing: '' },
}

/** Reads all tracked tables with their triggers as they are now. */
export async function inspectTracked(db: AnyKysely | AnyTransaction, schema: string): Promise<Tracked[]> {
  const rows = await run<{ facts: string }>(
    db,
    `select json_build_object('number', t.number, 'name', t.name, 'relation', t.relation::text, 'key', t.key_columns, 'tenant', t.tenant_column,
       'scopes', t.scope_columns, 'captureVersion', t.capture_version,
       'triggers', (select coalesce(json_agg(json_build_object('name', g.tgname, 'enabled', g.tgenabled, 'type', g.tgtype,
           'restricted', g.tgqual is not null or cardinality(g.tgattr::int2[]) > 0, 'oldTable', g.tgoldtable, 'newTable', g.tgnewtable,
           'function', n.nspname || '.' || p.proname, 'bodyHash', encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 'definer', p.prosecdef, 'config', p.proconfig,
           'owner', pg_get_userbyid(p.proowner), 'publicMayExecute', has_function_privilege('public', p.oid, 'execute'))), '[]')
         from pg_trigger g join pg_proc p on p.oid = g.tgfoid join pg_namespace n on n.oid = p.pronamespace
         where g.tgrelid = t.relation and not g.tgisinternal and n.nspname = $1))::text as facts
     from ${identifier(schema)}.tracked t order by t.number`,
    [schema],
  )
  return rows.map(({ facts }) => JSON.parse(facts) as Tracked)
}

/** What the catalogue keeps of a column. */
export function catalogued({ name, castTo, kind }: CapturedColumn): CataloguedColumn {
  return { name, castTo, kind }
}

/**
 * Compares a table's installed capture with its plan. `unseen`: writes may have passed by, so a table-level entry is due with the repair.
 */
export function compareCapture(
  plan: CapturePlan,
  tracked: Tracked | undefined,
  schema: string,
  captureRole: string,
): { readonly problem: string; readonly unseen: boolean } | null {
  if (tracked === undefined || tracked.relation === null) return { problem: 'is not captured', unseen: true }
  if (tracked.relation !== plan.facts.oid)
    return { problem: 'was dropped and created again: the new table is not captured', unseen: true }
  // A newer version of this library owns the functions now; it knows what they must look like.
  if (tracked.captureVersion > CAPTURE_VERSION) return null
  const declared = [plan.key.map(catalogued), plan.tenant && catalogued(plan.tenant), plan.scopes.map(catalogued)]
  if (!isDeepStrictEqual(declared, [tracked.key, tracked.tenant, tracked.scopes]))
    return { problem: 'is captured under another declaration', unseen: true }
  for (const operation of captureOperations) {
    const problem = compareTrigger(plan, tracked, operation, schema, captureRole)
    if (problem !== null) return { ...problem, problem: `${triggerEvents[operation].event} trigger ${problem.problem}` }
  }
  return null
}

/** Whether a trigger is the one that capture makes: event, level, row sets, function, no condition. */
export function isAttached(
  trigger: TriggerFacts,
  operation: CaptureOperation,
  schema: string,
  number: number,
): boolean {
  return (
    trigger.type === triggerTypes[operation] &&
    !trigger.restricted &&
    trigger.function === `${schema}.${functionName(number, operation)}` &&
    trigger.oldTable === (operation === 'u' || operation === 'd' ? oldRows : null) &&
    trigger.newTable === (operation === 'u' || operation === 'c' ? newRows : null)
  )
}

function compareTrigger(
  plan: CapturePlan,
  tracked: Tracked,
  operation: CaptureOperation,
  schema: string,
  captureRole: string,
): { readonly problem: string; readonly unseen: boolean } | null {
  const trigger = tracked.triggers.find(({ name }) => name === triggerName(schema, operation))
  const unseen = (problem: string) => ({ problem, unseen: true })
  if (trigger === undefined) return unseen('is missing')
  if (trigger.enabled !== 'A') return unseen('is not enabled always')
  if (!isAttached(trigger, operation, schema, tracked.number)) return unseen('was altered')
  const body = captureBody(plan, operation, schema, tracked.number)
  if (trigger.bodyHash !== createHash('sha256').update(body, 'utf8').digest('hex')) {
    return { problem: 'has another function', unseen: tracked.captureVersion === CAPTURE_VERSION }
  }
  if (
    !trigger.definer ||
    trigger.config?.join() !== 'search_path=pg_catalog, pg_temp' ||
    trigger.owner !== captureRole
  ) {
    return unseen('has a function with other rights')
  }
  if (trigger.publicMayExecute) return { problem: 'has a function that everyone may attach to a table', unseen: false }
  return null
}
