import { KEYS_PER_ENTRY } from '../../log-limits.ts'
import { canonicalKey, canonicalText } from './canonical-text.ts'
import type { CapturedColumn, CapturePlan } from './plan-capture.ts'
import { identifier, literal } from './run.ts'

/**
 * Text of the trigger functions of a captured table: statement triggers with transition tables (docs/capture.md, "Statement shape"). Everything is
 * qualified, because the functions run in the sessions of whoever writes.
 */

/** Version of the generated functions. A process never replaces functions of a newer version. */
export const CAPTURE_VERSION = 1

export const captureOperations = ['c', 'u', 'd', 't'] as const
/** Create, update, delete, truncate. */
export type CaptureOperation = (typeof captureOperations)[number]

export const oldRows = 'tidemark_o'
export const newRows = 'tidemark_n'

/** Body of the function for `operation`; deterministic, so that it can be compared with what is installed. */
export function captureBody(plan: CapturePlan, operation: CaptureOperation, schema: string, number: number): string {
  const shape = new Shape(plan, schema, number)
  return { c: insertBody, u: updateBody, d: deleteBody, t: truncateBody }[operation](shape)
}

class Shape {
  readonly plan: CapturePlan
  readonly number: number
  readonly log: string
  readonly #schema: string

  constructor(plan: CapturePlan, schema: string, number: number) {
    this.plan = plan
    this.number = number
    this.#schema = identifier(schema)
    this.log = `${this.#schema}.log (tbl, op, n, tenant, scopes, keys)`
  }

  key(alias: string): string {
    return canonicalKey(this.plan.key.map((c) => text(alias, c)))
  }

  /** Canonical tenant of a row that must have one: a null raises. */
  requiredTenant(tenantText: string): string {
    const { tenant, declared } = this.plan
    if (tenant === null) return NO_TEXT
    return `coalesce(${tenantText}, ${this.#schema}.null_tenant(${literal(declared.name)}, ${literal(tenant.name)}))`
  }

  tenant(alias: string): string {
    return this.plan.tenant === null ? NO_TEXT : text(alias, this.plan.tenant)
  }

  scopes(alias: string): string {
    return textArray(this.plan.scopes.map((c) => text(alias, c)))
  }

  /** What entries are grouped by, each column under a short name. */
  get groups(): readonly { readonly name: string; readonly column: CapturedColumn }[] {
    const { tenant, scopes } = this.plan
    return [
      ...(tenant === null ? [] : [{ name: 't', column: tenant }]),
      ...scopes.map((scope, i) => ({ name: `s${i + 1}`, column: scope })),
    ]
  }

  /** Old and new row are the same row, with the same tenant and scopes. */
  sameRow(): string {
    const { key, tenant, scopes } = this.plan
    const equal = [...key, ...(tenant === null ? [] : [tenant])].map(
      (c) => `${comparable('o', c)} ${EQ} ${comparable('n', c)}`,
    )
    const alike = scopes.map((c) => `${comparable('o', c)} is not distinct from ${comparable('n', c)}`)
    return [...equal, ...alike].join(' and ')
  }
}

const EQ = 'operator(pg_catalog.=)'
const NO_TEXT = 'null::pg_catalog.text'
const NO_TEXTS = 'null::pg_catalog.text[]'

function column(alias: string, { name }: CapturedColumn): string {
  return `${alias}.${identifier(name)}`
}

function text(alias: string, captured: CapturedColumn): string {
  return canonicalText(column(alias, captured), captured.kind)
}

function textArray(texts: readonly string[]): string {
  return texts.length === 0 ? NO_TEXTS : `array[${texts.join(', ')}]`
}

/** A value that is equal exactly when its text is: the column, or, where `=` is coarser (citext, numeric, …), the text under "C". */
function comparable(alias: string, captured: CapturedColumn): string {
  return captured.coarse ? `(${text(alias, captured)}) collate pg_catalog."C"` : column(alias, captured)
}

/** Text of a value that went through {@link comparable}. */
function textOfGrouped(name: string, captured: CapturedColumn): string {
  return captured.coarse ? name : canonicalText(name, captured.kind)
}

/**
 * Appends what `rows` yields (op, the grouped values, k = key text) as one entry for each operation, tenant and set of scope values, in chunks.
 * Deletes come first, then creates, then updates: a key that was freed and used again ends as present.
 */
function appendGrouped(shape: Shape, rows: string): string {
  const { plan, groups } = shape
  const names = (alias: string): string => groups.map(({ name }) => `, ${alias}.${name}`).join('')
  const tenantText = plan.tenant === null ? NO_TEXT : textOfGrouped('g.t', plan.tenant)
  const tenant =
    plan.tenant === null
      ? NO_TEXT
      : `case when g.op ${EQ} 'd'::"char" then ${tenantText} else ${shape.requiredTenant(tenantText)} end`
  const scopes = textArray(plan.scopes.map((c, i) => textOfGrouped(`g.s${i + 1}`, c)))
  return `insert into ${shape.log}
    select ${shape.number}, g.op, g.n, ${tenant}, ${scopes}, g.keys
    from (select x.op${names('x')}, pg_catalog.count(*) as n, pg_catalog.array_agg(x.k) as keys
          from (select y.*, (pg_catalog.row_number() over (partition by y.op${names('y')}) operator(pg_catalog.-) 1) operator(pg_catalog./) ${KEYS_PER_ENTRY} as chunk
                from (${rows}) y) x
          group by x.op${names('x')}, x.chunk) g
    order by pg_catalog.strpos('dcu', g.op::pg_catalog.text);`
}

function insertBody(shape: Shape): string {
  return oneSidedBody(shape, 'c', newRows, 'n', shape.requiredTenant(shape.tenant('n')), 'true')
}

// A legacy row whose tenant is null was never announced to anyone: its delete is not either.
function deleteBody(shape: Shape): string {
  const { tenant } = shape.plan
  return oneSidedBody(
    shape,
    'd',
    oldRows,
    'o',
    shape.tenant('o'),
    tenant === null ? 'true' : `${column('o', tenant)} is not null`,
  )
}

/**
 * Insert or delete. First the usual case, one row: `not exists (… offset 1)` is a one-time filter, so nothing runs over many rows. Then the
 * general one.
 */
function oneSidedBody(
  shape: Shape,
  op: 'c' | 'd',
  table: string,
  alias: string,
  tenant: string,
  where: string,
): string {
  const groups = shape.groups.map(({ name, column: c }) => `, ${comparable(alias, c)} as ${name}`).join('')
  return `
begin
  insert into ${shape.log}
  select ${shape.number}, '${op}'::"char", 1, ${tenant}, ${shape.scopes(alias)}, array[${shape.key(alias)}]
  from ${table} ${alias}
  where not exists (select from ${table} offset 1) and ${where};
  if not found and exists (select from ${table} offset 1) then
    ${appendGrouped(shape, `select '${op}'::"char" as op${groups}, ${shape.key(alias)} as k from ${table} ${alias} where ${where}`)}
  end if;
  return null;
end
`
}

/**
 * Update. The usual case is one row that keeps key, tenant and scopes. Else old and new rows are joined on exactly these: what has only an old
 * side left, what has only a new side arrived. The join is FULL, which cannot become a nested loop in a cached plan. Rows that did
 * not change at all are left out; whole rows are compared, and byte by byte, so that no column and no type is missed.
 */
function updateBody(shape: Shape): string {
  const { plan } = shape
  const [firstKey] = plan.key
  if (firstKey === undefined) throw new Error('a captured table has a key')
  const gone = `${column('n', firstKey)} is null`
  const arrived = `${column('o', firstKey)} is null`
  const changed = 'o.* operator(pg_catalog.*<>) n.*'
  const side = (sql: (alias: string) => string): string => `case when ${gone} then ${sql('o')} else ${sql('n')} end`
  const groups = shape.groups
    .map(({ name, column: c }) => `, ${side((alias) => comparable(alias, c))} as ${name}`)
    .join('')
  const unannounced = plan.tenant === null ? '' : ` and not (${gone} and ${column('o', plan.tenant)} is null)`
  const rows = `select case when ${gone} then 'd' when ${arrived} then 'c' else 'u' end::"char" as op${groups}, ${side((alias) => shape.key(alias))} as k
                from ${oldRows} o full join ${newRows} n on ${shape.sameRow()}
                where (${gone} or ${arrived} or ${changed})${unannounced}`
  return `
begin
  insert into ${shape.log}
  select ${shape.number}, 'u'::"char", 1, ${shape.tenant('n')}, ${shape.scopes('n')}, array[${shape.key('n')}]
  from ${oldRows} o, ${newRows} n
  where not exists (select from ${newRows} offset 1) and ${shape.sameRow()} and ${changed};
  if not found and exists (select from ${newRows}) then
    ${appendGrouped(shape, rows)}
  end if;
  return null;
end
`
}

function truncateBody(shape: Shape): string {
  return `
begin
  insert into ${shape.log} select ${shape.number}, 'i'::"char", 1, ${NO_TEXT}, ${NO_TEXTS}, ${NO_TEXTS};
  return null;
end
`
}
