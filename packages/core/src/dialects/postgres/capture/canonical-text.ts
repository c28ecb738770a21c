/**
 * One text for each value, the same in every session: what keys, tenants and scope values are in the log (docs/capture.md, "Keys as
 * text"). The kinds are the rows of that table.
 */
export type CanonicalKind =
  | 'cast'
  | 'json'
  | 'timestamptz'
  | 'bytea'
  | 'numeric'
  | 'enum'
  | 'citext'
  | 'bpchar'
  | 'collated'

const kindByType: Readonly<Record<string, CanonicalKind>> = {
  int2: 'cast',
  int4: 'cast',
  int8: 'cast',
  oid: 'cast',
  uuid: 'cast',
  bool: 'cast',
  text: 'cast',
  varchar: 'cast',
  name: 'cast',
  time: 'cast',
  macaddr: 'cast',
  bpchar: 'bpchar',
  date: 'json',
  timestamp: 'json',
  timestamptz: 'timestamptz',
  numeric: 'numeric',
  bytea: 'bytea',
}

/** What is known of a column's type, domains resolved to their base. */
export interface TypeFacts {
  readonly schema: string
  readonly name: string
  /** `pg_type.typtype` of the base type. */
  readonly typtype: string
  readonly deterministicCollation: boolean
}

/** The kind of a type, or `null` when it has no one text: such a column cannot be key, tenant or scope. */
export function canonicalKind(type: TypeFacts): CanonicalKind | null {
  if (type.typtype === 'e') return 'enum'
  if (type.schema !== 'pg_catalog') return type.name === 'citext' && type.typtype === 'b' ? 'citext' : null
  const kind = kindByType[type.name] ?? null
  return kind === 'cast' && !type.deterministicCollation ? 'collated' : kind
}

/**
 * Whether `=` cannot be trusted to tell values apart exactly as their texts do: it is coarser (citext, numeric, …), or it is looked up among casts that
 * the type's owner made (enums). Such columns are compared by text.
 */
export function isCoarse(kind: CanonicalKind): boolean {
  return kind === 'numeric' || kind === 'bpchar' || kind === 'collated' || kind === 'enum' || kind === 'citext'
}

/** SQL for the canonical text of `expression`; null stays null. Qualified throughout: it runs in other people's sessions. */
export function canonicalText(expression: string, kind: CanonicalKind): string {
  switch (kind) {
    case 'cast':
    case 'bpchar':
    case 'collated':
      return `${expression}::pg_catalog.text`
    case 'json':
      return `(pg_catalog.to_jsonb(${expression}) operator(pg_catalog.#>>) '{}'::pg_catalog.text[])`
    case 'timestamptz':
      return `(pg_catalog.to_jsonb(pg_catalog.timezone('UTC'::pg_catalog.text, ${expression})) operator(pg_catalog.#>>) '{}'::pg_catalog.text[])`
    case 'bytea':
      return `pg_catalog.encode(${expression}, 'hex'::pg_catalog.text)`
    case 'numeric':
      return `pg_catalog.trim_scale(${expression})::pg_catalog.text`
    // concat calls the type's output function and ignores casts; it turns null into '', hence the guard.
    case 'enum':
    case 'citext':
      return `case when ${expression} is not null then pg_catalog.concat(${expression}) end`
  }
}

/** Canonical text of a whole key: the column's own, or a JSON array of texts for a composite key. */
export function canonicalKey(columns: readonly string[]): string {
  const [only] = columns
  if (columns.length === 1 && only !== undefined) return only
  return `pg_catalog.array_to_json(array[${columns.join(', ')}])::pg_catalog.text`
}

/**
 * SQL for the canonical text of a value given as text. Enum and citext values are their own text: a cast to them could be somebody else's function,
 * run with the rights of this session. Whether an enum has the label is checked apart.
 */
export function canonicalTextOfGiven(
  text: string,
  { kind, castTo }: { readonly kind: string; readonly castTo: string },
): string {
  return kind === 'enum' || kind === 'citext' ? text : canonicalText(`${text}::${castTo}`, kind as CanonicalKind)
}
