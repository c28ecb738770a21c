import { canonicalKey, canonicalText } from './canonical-text.ts'
import { policyName } from './describe-tables.ts'
import type { CapturedColumn, CapturePlan } from './plan-capture.ts'
import { identifier, literal } from '../run.ts'

/** SQL over the rows of a captured table: what its trigger functions say of a row under an alias. Everything is qualified. */
export class CapturedRow {
  readonly plan: CapturePlan
  readonly number: number
  /** The log with the columns that capture fills. */
  readonly log: string
  readonly #schema: string
  readonly #schemaName: string

  constructor(plan: CapturePlan, schema: string, number: number) {
    this.plan = plan
    this.number = number
    this.#schema = identifier(schema)
    this.#schemaName = schema
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

  /** Two rows have the same key, tenant and scopes: they are one row to its readers. */
  same(a: string, b: string): string {
    const { key, tenant, scopes } = this.plan
    const equal = [...key, ...(tenant === null ? [] : [tenant])].map(
      (c) => `${comparable(a, c)} ${EQ} ${comparable(b, c)}`,
    )
    const alike = scopes.map((c) => `${comparable(a, c)} is not distinct from ${comparable(b, c)}`)
    return [...equal, ...alike].join(' and ')
  }

  /** A row's delete is announced: a legacy row whose tenant is null was never announced to anyone. */
  deleteMatters(alias: string): readonly string[] {
    const { tenant } = this.plan
    return tenant === null ? [] : [`${column(alias, tenant)} is not null`]
  }

  /** Appends a table-level entry. */
  get invalidate(): string {
    return `insert into ${this.log} values (${this.number}, 'i'::"char", 1, ${NO_TEXT}, ${NO_TEXTS}, ${NO_TEXTS});`
  }

  /**
   * A look-up could not be trusted: the name stands for something else by now, or row security would hide rows, as if they were gone, or run the policies
   * of the table's owner with this role's rights. Then the whole table is told instead.
   */
  get isBlind(): string {
    const { oid, schema, name } = this.plan.facts
    const relation = `${oid}::pg_catalog.oid`
    const policies = `(select from pg_catalog.pg_policy p where p.polrelid ${EQ} ${relation} and `
    const concerned = `(0::pg_catalog.oid ${EQ} any (p.polroles) or (select r.oid from pg_catalog.pg_roles r where r.rolname ${EQ} current_user) ${EQ} any (p.polroles))`
    return [
      `pg_catalog.to_regclass(${literal(`${identifier(schema)}.${identifier(name)}`)})::pg_catalog.oid is distinct from ${relation}`,
      `pg_catalog.row_security_active(${relation}) and (exists ${policies} not p.polpermissive and ${concerned})`,
      `not exists ${policies} p.polname ${EQ} ${literal(policyName(this.#schemaName))} and pg_catalog.pg_get_expr(p.polqual, p.polrelid) ${EQ} 'true'))`,
    ].join(' or ')
  }

  /**
   * The row is in the table now, at the end of the statement: what gave its key away was followed by what took it again. `=` beside the text is for
   * the index, where it can be trusted not to be the type owner's.
   */
  isThereNow(alias: string): string {
    const { facts, key } = this.plan
    const indexed = key
      .filter(({ coarse, kind }) => coarse && kind !== 'enum' && kind !== 'citext')
      .map((c) => `${column('x', c)} ${EQ} ${column(alias, c)}`)
    return `exists (select from ${identifier(facts.schema)}.${identifier(facts.name)} x where ${[...indexed, this.same('x', alias)].join(' and ')})`
  }
}

export const EQ = 'operator(pg_catalog.=)'
export const CHANGED = 'operator(pg_catalog.*<>)'
export const NO_TEXT = 'null::pg_catalog.text'
const NO_TEXTS = 'null::pg_catalog.text[]'

export function column(alias: string, { name }: CapturedColumn): string {
  return `${alias}.${identifier(name)}`
}

function text(alias: string, captured: CapturedColumn): string {
  return canonicalText(column(alias, captured), captured.kind)
}

export function textArray(texts: readonly string[]): string {
  return texts.length === 0 ? NO_TEXTS : `array[${texts.join(', ')}]`
}

/** A value that is equal exactly when its text is: the column, or, where `=` is coarser (citext, numeric, …), the text under "C". */
export function comparable(alias: string, captured: CapturedColumn): string {
  return captured.coarse ? `(${text(alias, captured)}) collate pg_catalog."C"` : column(alias, captured)
}

/** Text of a value that went through {@link comparable}. */
export function textOfGrouped(name: string, captured: CapturedColumn): string {
  return captured.coarse ? name : canonicalText(name, captured.kind)
}
