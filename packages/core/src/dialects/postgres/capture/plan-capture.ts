import type { DeclaredTable } from '../../../declaration.ts'
import { UnsupportedColumnError, UnsupportedTableError } from '../../../errors.ts'
import { type CanonicalKind, canonicalKind, isCoarse } from './canonical-text.ts'
import type { ColumnFacts, PartitionFacts, TableFacts, UniqueKey } from './describe-tables.ts'
import { qualified } from '../run.ts'

/** A column that capture reads. */
export interface CapturedColumn {
  readonly number: number
  readonly name: string
  readonly kind: CanonicalKind
  /** Compared by canonical text instead of `=`. */
  readonly coarse: boolean
  /** Qualified base type, the target of casts from text. */
  readonly castTo: string
}

/** A table found fit to be captured, with all that its trigger functions depend on. */
export interface CapturePlan {
  readonly declared: DeclaredTable
  readonly facts: TableFacts
  readonly key: readonly CapturedColumn[]
  readonly tenant: CapturedColumn | null
  readonly scopes: readonly CapturedColumn[]
  /** Which triggers capture it. */
  readonly level: 'statement' | 'row'
  /** Why not statement triggers. */
  readonly rowReason: string | null
  /**
   * A key can be taken before it is freed, since only the end of a statement or transaction checks it. Then a key that is freed must be looked up, and
   * the owner of the capture functions needs the right to. Elsewhere it is free when it is taken: the order of the events is right by itself.
   */
  readonly reusesKeys: boolean
}

/** All columns that capture reads, each once, in order of their numbers. */
export function trackedColumns({ key, tenant, scopes }: CapturePlan): readonly CapturedColumn[] {
  const columns = [...key, ...(tenant === null ? [] : [tenant]), ...scopes]
  return [...new Map(columns.map((column) => [column.number, column])).values()].toSorted((a, b) => a.number - b.number)
}

const kindNames: Readonly<Record<string, string>> = {
  v: 'is a view: declare the table behind it',
  m: 'is a materialized view: declare the tables behind it',
  f: 'is a foreign table: declare it in the database it lives in',
  S: 'is a sequence',
  c: 'is a composite type',
}

/** Checks a declared table against what the database says (docs/capture.md). Throws the typed refusal. */
export function planCapture(declared: DeclaredTable, facts: TableFacts | undefined): CapturePlan {
  const { name } = declared
  if (facts === undefined) {
    throw new UnsupportedTableError(
      name,
      'does not exist, or the search_path of this connection does not reach it: create it before migrate(), or qualify its name',
    )
  }
  if (facts.kind !== 'r' && facts.kind !== 'p')
    throw new UnsupportedTableError(name, kindNames[facts.kind] ?? 'is not an ordinary table')
  requireLasting(name, facts)
  if (facts.isPartition) {
    throw new UnsupportedTableError(
      name,
      'is a partition: declare the partitioned table, which covers all its partitions',
    )
  }
  if (facts.inherits) {
    throw new UnsupportedTableError(
      name,
      "takes part in inheritance, where writes to one table pass the other's triggers by: use partitions, or declare tables without parents and children",
    )
  }
  for (const partition of facts.partitions) requireOrdinaryPartition(name, partition)
  const key = declared.key.map((column) => capturedColumn(declared, facts, column, 'key'))
  const tenant = declared.tenant === null ? null : capturedColumn(declared, facts, declared.tenant, 'tenant')
  const scopes = declared.scopes.map((column) => capturedColumn(declared, facts, column, 'scope'))
  const reusesKeys = !requireUniqueKey(declared, facts).immediate
  const rowReason = whyByRow(declared, facts)
  const plan: CapturePlan = {
    declared,
    facts,
    key,
    tenant,
    scopes,
    level: rowReason === null ? 'statement' : 'row',
    rowReason,
    reusesKeys,
  }
  if (reusesKeys && facts.rowSecurity && facts.captureRole.restricted) {
    throw new UnsupportedTableError(
      name,
      `has a restrictive row security policy that hides rows from the capture role, which must look up keys here, because the key is deferrable: limit the policy to other roles, or give the capture role BYPASSRLS`,
    )
  }
  return plan
}

function requireLasting(table: string, { persistence }: Pick<TableFacts, 'persistence'>): void {
  if (persistence === 't') throw new UnsupportedTableError(table, 'is temporary: other sessions never see its rows')
  if (persistence === 'u')
    throw new UnsupportedTableError(table, 'is unlogged: a crash empties it unseen; use "alter table … set logged"')
}

function requireOrdinaryPartition(table: string, partition: PartitionFacts): void {
  if (partition.kind === 'f') {
    throw new UnsupportedTableError(
      table,
      `has the foreign table "${partition.name}" as a partition, whose rows change elsewhere unseen: detach it`,
    )
  }
  if (partition.persistence === 'p') return
  throw new UnsupportedTableError(
    table,
    `has the partition "${partition.name}", which is temporary or unlogged: a crash empties it unseen; use "alter table … set logged"`,
  )
}

/** Why a table needs row triggers, or `null` where statement triggers do (docs/capture.md, "Row triggers"). */
function whyByRow({ name, capture }: DeclaredTable, facts: TableFacts): string | null {
  const { kind, subscribed, appRowTriggers, cascadesBothWays } = facts
  const passedBy = kind === 'p' ? 'it is partitioned' : subscribed ? 'a logical subscription fills it' : null
  const [trigger] = appRowTriggers
  if (capture === 'statement') {
    if (passedBy === null) return null
    throw new UnsupportedTableError(
      name,
      `cannot be captured by statement triggers, because ${passedBy}: leave "capture" out`,
    )
  }
  if (passedBy !== null) return passedBy
  if (trigger !== undefined) return `trigger "${trigger}" fires after each row`
  if (cascadesBothWays) return 'its foreign keys both delete and update rows when parents are deleted'
  return capture === 'row' ? 'row triggers are declared' : null
}

function capturedColumn(
  declared: DeclaredTable,
  facts: TableFacts,
  name: string,
  role: 'key' | 'tenant' | 'scope',
): CapturedColumn {
  const refuse = (why: string): never => {
    throw new UnsupportedColumnError(declared.name, name, `${why} (${role} column)`)
  }
  const column: ColumnFacts = facts.columns.find((c) => c.name === name) ?? refuse('there is no such column')
  if (role !== 'scope' && !column.notNull) refuse('may be null: add NOT NULL')
  if (column.generated === 'v') refuse('is a virtual generated column, which triggers cannot read: make it STORED')
  const kind: CanonicalKind =
    canonicalKind(column.type) ??
    refuse(`its type ${column.type.name} has no text that is the same in every session: use another column or type`)
  return { number: column.number, name, kind, coarse: isCoarse(kind), castTo: qualified(column.type) }
}

function requireUniqueKey(declared: DeclaredTable, facts: TableFacts): UniqueKey {
  const wanted = [...declared.key].toSorted().join('\0')
  const covering = facts.uniqueKeys.filter(({ columns }) => columns.toSorted().join('\0') === wanted)
  const [best] = covering.toSorted((a, b) => Number(b.immediate) - Number(a.immediate))
  if (best !== undefined) return best
  throw new UnsupportedColumnError(
    declared.name,
    declared.key.join(', '),
    'no unique index covers exactly the key: add a primary key or a unique constraint without a condition on these columns',
  )
}
