import { CompiledQuery } from 'kysely'
import type { AnyKysely, AnyTransaction } from '../dialect.ts'

/** Values are sent as text and cast in the statement, so that neither the app's type parsers nor the driver's guesses matter. */
export type Param = string | number | null

/**
 * Runs one statement without the app's Kysely plugins (a plugin that renames columns would rename ours too). Unnamed, so that it works
 * through poolers in transaction mode.
 */
export async function run<Row>(
  db: AnyKysely | AnyTransaction,
  text: string,
  params: readonly Param[] = [],
): Promise<Row[]> {
  const { rows } = await db.withoutPlugins().executeQuery<Row>(CompiledQuery.raw(text, [...params]))
  return rows
}

/** Quotes an identifier. The text always ends up inside double quotes, whatever it holds. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a name with its schema. */
export function qualified({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${identifier(schema)}.${identifier(name)}`
}

/** Quotes a string literal, safe whatever `standard_conforming_strings` says. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** Text of a Postgres array of integers. */
export function integerArray(values: Iterable<bigint | number>): string {
  return `{${[...values].join(',')}}`
}

/** SQLSTATE of a driver's error, whichever driver. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/** SQLSTATEs this dialect acts upon. */
export const INSUFFICIENT_PRIVILEGE = '42501'
export const LOCK_NOT_AVAILABLE = '55P03'
export const DEADLOCK_DETECTED = '40P01'
/** What `pg_xact_status` raises for a transaction id in the future. */
export const INVALID_PARAMETER_VALUE = '22023'

/** No such schema, table, function or column: the feed is not installed, or not as expected. */
export function isMissingObject(error: unknown): boolean {
  return ['3F000', '42P01', '42883', '42703'].includes(sqlState(error) ?? '')
}

/** Data exceptions: a value that cannot be cast. */
export function isDataException(error: unknown): boolean {
  return sqlState(error)?.startsWith('22') === true
}
