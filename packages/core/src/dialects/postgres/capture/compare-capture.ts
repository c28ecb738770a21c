import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FindingCode } from '../../../feed.ts'
import type { FeedSetup } from '../../dialect.ts'
import { CAPTURE_VERSION, captureBody, captureSettings } from './capture-functions.ts'
import { type WantedTrigger, wantedTriggers } from './capture-triggers.ts'
import { catalogued, type Tracked, type TriggerFacts } from './inspect-capture.ts'
import { type CapturePlan, trackedColumns } from './plan-capture.ts'
import { layoutOf, newPartitions, unseenChange } from './table-layout.ts'

/** How the installed capture of a table differs from what it should be. */
export interface Difference {
  readonly code: FindingCode
  readonly problem: string
  /** Rows may have changed and nobody was told: a table-level entry is due with the repair. */
  readonly unseen: boolean
}

/**
 * Compares a table's installed capture with its plan; `null` when all is well. Differences that mean unseen changes come first, so that
 * none hides behind a harmless one.
 */
export function compareCapture(
  plan: CapturePlan,
  tracked: Tracked | undefined,
  { schema, captureRole }: Pick<FeedSetup, 'schema' | 'captureRole'>,
  suspects: readonly string[],
): Difference | null {
  const unseen = (code: FindingCode, problem: string): Difference => ({ code, problem, unseen: true })
  const harmless = (code: FindingCode, problem: string): Difference => ({ code, problem, unseen: false })

  if (tracked === undefined || tracked.relation === null) return unseen('notCaptured', 'is not captured')
  if (tracked.relation !== plan.facts.oid)
    return unseen('tableReplaced', 'was dropped and created again: the new table is not captured')
  // A newer version of this library owns the functions now; it knows what they must look like.
  if (tracked.captureVersion > CAPTURE_VERSION) return null

  const changed = tracked.layout === null ? null : unseenChange(tracked.layout, plan.facts, suspects)
  if (changed !== null) return unseen('rowsChanged', `${changed}, which no trigger sees`)
  const declared = [plan.key.map(catalogued), plan.tenant && catalogued(plan.tenant), plan.scopes.map(catalogued)]
  if (!isDeepStrictEqual(declared, [tracked.key, tracked.tenant, tracked.scopes]))
    return unseen('otherDeclaration', 'is captured under another declaration')

  const wanted = wantedTriggers(plan, schema, tracked.number)
  const found = (trigger: WantedTrigger) => findTrigger(tracked, trigger)
  const where = ({ relation, table, label }: WantedTrigger): string =>
    relation === plan.facts.oid ? label : `${label} of partition ${table}`

  const capturing = wanted.filter(isCapturing)
  for (const trigger of capturing) {
    const present = found(trigger)
    if (present === undefined) {
      const isNews =
        tracked.layout !== null && newPartitions(tracked.layout, plan.facts).some(({ oid }) => oid === trigger.relation)
      return { code: 'trigger', problem: `${where(trigger)} is missing`, unseen: !isNews }
    }
    if (present.enabled !== 'A') return unseen('trigger', `${where(trigger)} is not enabled always`)
  }
  const otherLevel = wantedTriggers(
    { ...plan, level: plan.level === 'row' ? 'statement' : 'row' },
    schema,
    tracked.number,
  )
  if (otherLevel.filter(isCapturing).every((trigger) => isAttached(found(trigger), trigger))) {
    const why =
      plan.rowReason === null ? 'no longer needs row triggers' : `needs row triggers, because ${plan.rowReason}`
    return { code: 'level', problem: why, unseen: plan.facts.subscribed }
  }
  for (const trigger of capturing)
    if (!isAttached(found(trigger), trigger)) return unseen('trigger', `${where(trigger)} was altered`)
  // The partitions' triggers call the same functions.
  for (const trigger of capturing.filter(({ relation }) => relation === plan.facts.oid)) {
    const difference = compareFunction(plan, tracked, trigger, found(trigger), schema, captureRole)
    if (difference !== null) return { ...difference, problem: `${where(trigger)} ${difference.problem}` }
  }

  const [stray] = strayTriggers(tracked, wanted)
  if (stray !== undefined)
    return harmless('trigger', `trigger "${stray.name}" does not belong here, and may tell changes twice`)
  const seen = compareRights(plan)
  if (seen !== null) return harmless('rights', seen)
  for (const guard of wanted.filter((trigger) => !isCapturing(trigger))) {
    const present = found(guard)
    if (present === undefined) return harmless('guard', `${guard.label} is missing`)
    if (present.enabled !== guard.enabled || !isAttached(present, guard))
      return harmless('guard', `${guard.label} was altered`)
  }
  return null
}

function isCapturing({ operation }: WantedTrigger): boolean {
  return operation !== null
}

/** Whether the table has changed in ways that harm nothing since its layout was noted. */
export function hasNewLayout({
  plan,
  tracked,
}: {
  readonly plan: CapturePlan
  readonly tracked: Tracked | undefined
}): boolean {
  if (tracked === undefined || tracked.captureVersion > CAPTURE_VERSION) return false
  return !isDeepStrictEqual(layoutOf(plan.facts), tracked.layout)
}

/** The installed trigger in the wanted one's place. */
export function findTrigger(tracked: Tracked | undefined, wanted: WantedTrigger): TriggerFacts | undefined {
  return tracked?.triggers.find(({ relation, name }) => relation === wanted.relation && name === wanted.name)
}

/** Triggers of this capture that no longer belong: renamed ones, which would tell everything twice, and those on partitions that were detached. */
export function strayTriggers(tracked: Tracked, wanted: readonly WantedTrigger[]): readonly TriggerFacts[] {
  const own = wanted.filter(isCapturing).map((trigger) => trigger.function)
  return tracked.triggers.filter(
    (present) =>
      !present.copy &&
      // A partition that was detached may be tracked by itself by now.
      (present.relation === tracked.relation || own.includes(present.function)) &&
      !wanted.some(({ relation, name }) => relation === present.relation && name === present.name),
  )
}

/** Whether a trigger is the one that is wanted: event, level, row sets, condition, function. */
export function isAttached(present: TriggerFacts | undefined, wanted: WantedTrigger): boolean {
  return (
    present?.type === wanted.type &&
    present.conditional === wanted.ifChanged &&
    // A copy's condition reads otherwise, but Postgres lets nobody alter a copy.
    (wanted.copy || present.ifChanged === wanted.ifChanged) &&
    isDeepStrictEqual(present.columns, wanted.columns) &&
    present.function === wanted.function &&
    present.oldTable === wanted.oldTable &&
    present.newTable === wanted.newTable
  )
}

function compareFunction(
  plan: CapturePlan,
  tracked: Tracked,
  wanted: WantedTrigger,
  present: TriggerFacts | undefined,
  schema: string,
  captureRole: string,
): Difference | null {
  const { operation } = wanted
  if (operation === null || present === undefined) return null
  const body = captureBody(plan, operation, schema, tracked.number)
  if (present.bodyHash !== createHash('sha256').update(body, 'utf8').digest('hex'))
    return { code: 'function', problem: 'has another function', unseen: tracked.captureVersion === CAPTURE_VERSION }
  if (
    !present.definer ||
    present.config?.join() !== captureSettings(plan, operation).join() ||
    present.owner !== captureRole
  ) {
    return { code: 'function', problem: 'has a function with other rights', unseen: true }
  }
  if (present.publicMayExecute)
    return { code: 'function', problem: 'has a function that everyone may attach to a table', unseen: false }
  return null
}

/** The capture role must see the keys it looks up, all of them, and nothing where it looks nothing up. */
function compareRights(plan: CapturePlan): string | null {
  const { reusesKeys, facts } = plan
  const { schemaUsage, columns, granted, policy } = facts.captureRole
  const needed = reusesKeys ? trackedColumns(plan).map(({ name }) => name) : []
  if (granted.some((name) => !needed.includes(name)) || (policy && !(reusesKeys && facts.rowSecurity)))
    return 'the capture role may see more than the keys that it looks up'
  if (!reusesKeys) return null
  if (schemaUsage && needed.every((name) => columns.includes(name)) && policy === facts.rowSecurity) return null
  return 'the capture role may not see the keys that it must look up'
}
