import type { CataloguedColumn } from '../dialects/dialect.ts'
import { InvalidInputError } from '../errors.ts'

/**
 * The parts of a key as texts that Postgres can cast: from a single value, an object of key columns, or a canonical key text.
 * Casting and canonical form are Postgres' work; here only shapes are checked.
 */
export function keyParts(columns: readonly CataloguedColumn[], key: unknown, field: string): string[] {
  const [only] = columns
  if (columns.length === 1 && only !== undefined) {
    const value = isPlainObject(key) ? key[only.name] : key
    return [valueText(value, only, field)]
  }
  const parts =
    typeof key === 'string' ? parseCompositeText(key) : isPlainObject(key) ? columns.map((c) => key[c.name]) : null
  if (parts === null || parts.length !== columns.length) {
    throw new InvalidInputError(
      field,
      `must be an object of ${columns.map((c) => `"${c.name}"`).join(', ')}, or a canonical key text`,
    )
  }
  return columns.map((c, i) => valueText(parts[i], c, `${field}.${c.name}`))
}

const CANONICAL_INSTANT = /^(\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)( BC)?$/

/** Text of one value. */
export function valueText(value: unknown, { kind }: CataloguedColumn, field: string): string {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0')) throw new InvalidInputError(field, 'must not hold NUL')
      // Canonical bytea is bare hex; Postgres reads it with a prefix.
      if (kind === 'bytea') return value.startsWith('\\x') ? value : `\\x${value}`
      // A canonical instant is in UTC and does not say so: without a zone Postgres would read it in the session's.
      return kind === 'timestamptz' ? value.replace(CANONICAL_INSTANT, '$1+00$2') : value
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'number':
      if (Number.isSafeInteger(value)) return String(value)
      throw new InvalidInputError(field, 'must be a safe integer; pass other numbers as text')
    case 'object':
      if (value instanceof Date) {
        throw new InvalidInputError(
          field,
          'must not be a Date, which lacks microseconds and zone: pass text as Postgres prints it',
        )
      }
      if (value instanceof Uint8Array && kind === 'bytea') return `\\x${Buffer.from(value).toString('hex')}`
      throw new InvalidInputError(field, 'must be a value of the key column')
    default:
      throw new InvalidInputError(field, 'is missing')
  }
}

function parseCompositeText(text: string): unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) && parsed.every((part) => typeof part === 'string') ? parsed : null
  } catch {
    return null
  }
}

/** An object of named values, as JSON knows it. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array) &&
    !Array.isArray(value)
  )
}
