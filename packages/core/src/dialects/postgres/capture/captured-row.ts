import { canonicalKey, canonicalText } from './canonical-text.ts'
import { policyName } from './names.ts'
import type { CapturedColumn, CapturePlan } from './plan-capture.ts'
import { identifier, literal, qualified } from '../run.ts'

/** SQL over the rows of a captured table: what its trigger functions say of a row under an alias. Everything is qualified. */
export class CapturedRow {
  readonly plan: CapturePlan
  readonly number: number
  /** The log with the columns that capture fills. */
  readonly log: string
  readonly #schema: string

  constructor(plan: CapturePlan, schema: string, number: number) {
    this.plan = plan
    this.number = number
    this.#schema = schema
    this.log = `${identifier(schema)}.log (tbl, op, n, tenant, scopes, keys)`
  }

  key(alias: string): string {
    return canonicalKey(this.plan.key.map((c) => text(alias, c)))
  }

  /** Canonical tenant of a row that must have one: a null raises. */
  requiredTenant(tenantText: string): string {
    const { tenant, declared } = this.plan
    if (tenant === null) return NO_TEXT
    return `coalesce(${tenantText}, ${identifier(this.#schema)}.null_tenant(${literal(declared.name)}, ${literal(tenant.name)}))`
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

  /**
   * When the delete of a row is told: a legacy row whose tenant is null was never announced to anyone, and where keys can be taken before they are freed, a key
   * that is there again was not deleted.
   */
  deleteConditions(alias: string): readonly string[] {
    const { tenant, reusesKeys } = this.plan
    return [
      ...(tenant === null ? [] : [`${column(alias, tenant)} is not null`]),
      ...(reusesKeys ? [`not ${this.#isThereNow(alias)}`] : []),
    ]
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
    const { facts } = this.plan
    const relation = `${facts.oid}::pg_catalog.oid`
    const policy = (which: string): string =>
      `exists (select from pg_catalog.pg_policy p where p.polrelid ${EQ} ${relation} and ${which})`
    const forThisRole = `(0::pg_catalog.oid ${EQ} any (p.polroles) or (select r.oid from pg_catalog.pg_roles r where r.rolname ${EQ} current_user) ${EQ} any (p.polroles))`
    const own = `p.polname ${EQ} ${literal(policyName(this.#schema))} and pg_catalog.pg_get_expr(p.polqual, p.polrelid) ${EQ} 'true'`
    const renamed = `pg_catalog.to_regclass(${literal(qualified(facts))})::pg_catalog.oid is distinct from ${relation}`
    const hidden = `pg_catalog.row_security_active(${relation}) and (${policy(`not p.polpermissive and ${forThisRole}`)} or not ${policy(own)})`
    return `${renamed} or ${hidden}`
  }

  /**
   * The row is in the table now, at the end of the statement: what gave its key away was followed by what took it again. `=` beside the text is for
   * the index, where it can be trusted not to be the type owner's.
   */
  #isThereNow(alias: string): string {
    const { facts, key } = this.plan
    const indexed = key
      .filter(({ coarse, kind }) => coarse && kind !== 'enum' && kind !== 'citext')
      .map((c) => `${column('x', c)} ${EQ} ${column(alias, c)}`)
    return `exists (select from ${qualified(facts)} x where ${[...indexed, this.same('x', alias)].join(' and ')})`
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
