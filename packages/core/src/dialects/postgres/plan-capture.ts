import type { DeclaredTable } from '../../declaration.ts'
import { UnsupportedColumnError, UnsupportedTableError } from '../../errors.ts'
import { type CanonicalKind, canonicalKind, isCoarse } from './canonical-text.ts'
import type { ColumnFacts, TableFacts } from './describe-tables.ts'
import { identifier } from './run.ts'

/** A column that capture reads. */
export interface CapturedColumn {
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
}

const kindNames: Readonly<Record<string, string>> = {
  v: 'is a view: declare the table behind it',
  m: 'is a materialized view: declare the tables behind it',
  f: 'is a foreign table: declare it in the database it lives in',
  p: 'is partitioned: capture of partitioned tables is not part of this version',
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
  if (facts.kind !== 'r') throw new UnsupportedTableError(name, kindNames[facts.kind] ?? 'is not an ordinary table')
  if (facts.persistence === 't')
    throw new UnsupportedTableError(name, 'is temporary: other sessions never see its rows')
  if (facts.persistence === 'u') {
    throw new UnsupportedTableError(name, 'is unlogged: a crash empties it unseen; use "alter table … set logged"')
  }
  if (facts.isPartition || facts.inherits) {
    throw new UnsupportedTableError(
      name,
      "takes part in inheritance or partitioning, where writes to a child pass the parent's triggers by: not part of this version",
    )
  }
  if (facts.subscribed) {
    throw new UnsupportedTableError(
      name,
      'is filled by a logical subscription, whose writes fire no statement triggers: not part of this version',
    )
  }
  const key = declared.key.map((column) => capturedColumn(declared, facts, column, 'key'))
  const tenant = declared.tenant === null ? null : capturedColumn(declared, facts, declared.tenant, 'tenant')
  const scopes = declared.scopes.map((column) => capturedColumn(declared, facts, column, 'scope'))
  requireUniqueKey(declared, facts)
  return { declared, facts, key, tenant, scopes }
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
  const castTo = `${identifier(column.type.schema)}.${identifier(column.type.name)}`
  return { name, kind, coarse: isCoarse(kind), castTo }
}

function requireUniqueKey(declared: DeclaredTable, facts: TableFacts): void {
  const wanted = [...declared.key].toSorted().join('\0')
  if (facts.uniqueKeys.some((columns) => columns.toSorted().join('\0') === wanted)) return
  throw new UnsupportedColumnError(
    declared.name,
    declared.key.join(', '),
    'no unique index covers exactly the key: add a primary key or a unique constraint without a condition on these columns',
  )
}
