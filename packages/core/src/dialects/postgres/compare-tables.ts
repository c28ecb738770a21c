import type { DeclaredTable } from '../../declaration.ts'
import { DeclarationConflictError, UnsupportedColumnError } from '../../errors.ts'
import type { MigrateOptions } from '../../feed.ts'
import type { AnyKysely, AnyTransaction, CataloguedColumn, FeedSetup } from '../dialect.ts'
import { compareCapture, type Difference } from './capture/compare-capture.ts'
import { describeTables, type TableFacts } from './capture/describe-tables.ts'
import { inspectTracked, type Tracked } from './capture/inspect-capture.ts'
import { type CapturePlan, planCapture } from './capture/plan-capture.ts'
import { suspectPartitions } from './capture/suspect-partitions.ts'
import { currentName, newPartitions } from './capture/table-layout.ts'
import { identityConflict } from './identity-conflict.ts'

/** A declared table: what its capture should be, what it is, and how they differ. */
export interface Compared {
  readonly plan: CapturePlan
  readonly tracked: Tracked | undefined
  readonly difference: Difference | null
}

/** What the database says of declared tables, and of everything the feed tracks. */
export interface Inspection {
  readonly described: ReadonlyMap<string, TableFacts>
  readonly tracked: readonly Tracked[]
}

/** Two statements, however many tables. */
export async function inspectTables(
  db: AnyKysely | AnyTransaction,
  setup: FeedSetup,
  tables: Iterable<DeclaredTable>,
): Promise<Inspection> {
  return { described: await describeTables(db, setup, tables), tracked: await inspectTracked(db, setup.schema) }
}

/** Compares declared tables with the installed capture. Throws the typed refusal of the first table that cannot be captured as declared. */
export async function compareTables(
  db: AnyKysely | AnyTransaction,
  setup: FeedSetup,
  options: Pick<MigrateOptions, 'redeclare'>,
  only: Iterable<DeclaredTable> = setup.tables.values(),
  inspection?: Inspection,
): Promise<Compared[]> {
  const tables = [...only]
  const inspected = inspection ?? (await inspectTables(db, setup, tables))
  const compared: Compared[] = []
  for (const declared of tables) compared.push(await compareTable(db, setup, options, declared, inspected))
  requireOneTenantType(compared, inspected.tracked)
  return compared
}

async function compareTable(
  db: AnyKysely | AnyTransaction,
  setup: FeedSetup,
  { redeclare }: Pick<MigrateOptions, 'redeclare'>,
  declared: DeclaredTable,
  { described, tracked: allTracked }: Inspection,
): Promise<Compared> {
  const facts = described.get(declared.name)
  const tracked = followRenames(
    allTracked.find(({ name }) => name === declared.name),
    facts,
  )
  const again = redeclare?.includes(declared.name) === true
  const effective = again || facts === undefined ? declared : reconcile(declared, tracked, facts)
  const plan = planCapture(effective, facts)
  requireOneName(plan, allTracked)
  const suspects = tracked?.layout == null ? [] : newPartitions(tracked.layout, plan.facts)
  const difference = compareCapture(plan, tracked, setup, await suspectPartitions(db, suspects))
  return { plan, tracked, difference }
}

/** A renamed column is the same column: the catalogue is read as if it had always been called so. */
function followRenames(tracked: Tracked | undefined, facts: TableFacts | undefined): Tracked | undefined {
  if (tracked?.layout == null || facts === undefined || tracked.relation !== facts.oid) return tracked
  const { layout } = tracked
  const follow = (column: CataloguedColumn): CataloguedColumn => ({
    ...column,
    name: currentName(layout, facts, column.name),
  })
  return {
    ...tracked,
    key: tracked.key.map(follow),
    tenant: tracked.tenant && follow(tracked.tenant),
    scopes: tracked.scopes.map(follow),
  }
}

/**
 * What to install when another version of the app declared the table differently: scope columns are only ever added (that version
 * may still run), and another key or tenant needs the operator's word.
 */
function reconcile(declared: DeclaredTable, tracked: Tracked | undefined, facts: TableFacts): DeclaredTable {
  if (tracked === undefined || tracked.relation === null) return declared
  const columns = facts.columns.map(({ name }) => name)
  for (const name of [...declared.key, ...(declared.tenant === null ? [] : [declared.tenant]), ...declared.scopes]) {
    if (tracked.layout === null || columns.includes(name)) continue
    const renamed = currentName(tracked.layout, facts, name)
    if (renamed !== name)
      throw new UnsupportedColumnError(declared.name, name, `was renamed to "${renamed}": declare it under that name`)
  }
  const conflict = identityConflict(tracked, declared)
  if (conflict !== null) {
    throw new DeclarationConflictError(
      declared.name,
      `is captured with another ${conflict} than declared here: pass migrate({ redeclare: [name] }) once no older version of the app runs`,
    )
  }
  const kept = tracked.scopes.map(({ name }) => name).filter((name) => columns.includes(name))
  return { ...declared, scopes: [...kept, ...declared.scopes.filter((name) => !kept.includes(name))] }
}

function requireOneName({ declared, facts }: CapturePlan, allTracked: readonly Tracked[]): void {
  const twin = allTracked.find(({ name, relation }) => relation === facts.oid && name !== declared.name)
  if (twin === undefined) return
  throw new DeclarationConflictError(
    declared.name,
    `is tracked under the name "${twin.name}": use one name for it, or end the other with untrack(feed, '${twin.name}')`,
  )
}

/** Tenants are compared as text, so all tenant columns of a feed must mean the same by a text: they have one type. */
function requireOneTenantType(compared: readonly Compared[], allTracked: readonly Tracked[]): void {
  const planned = new Set(compared.map(({ plan }) => plan.declared.name))
  const installed = allTracked.find(
    ({ name, relation, tenant }) => relation !== null && tenant !== null && !planned.has(name),
  )
  let first: { table: string; castTo: string } | null =
    installed?.tenant == null ? null : { table: installed.name, castTo: installed.tenant.castTo }
  for (const { plan } of compared) {
    if (plan.tenant === null) continue
    first ??= { table: plan.declared.name, castTo: plan.tenant.castTo }
    if (plan.tenant.castTo !== first.castTo) {
      throw new UnsupportedColumnError(
        plan.declared.name,
        plan.tenant.name,
        `is of type ${plan.tenant.castTo}, but the tenant column of "${first.table}" is of type ${first.castTo}: all tenant columns of a feed have one type`,
      )
    }
  }
}
