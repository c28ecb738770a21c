import { InvalidInputError } from './errors.ts'
import type { MigrateOptions } from './feed.ts'

/** Checks the options of `migrate()` before anything is asked of the database. */
export function checkMigrateOptions(options: MigrateOptions, tables: ReadonlyMap<string, unknown>): void {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'must be an object')
  checkLockOptions(options)
  requireNames('grantTo', options.grantTo)
  requireNames('redeclare', options.redeclare)
  const unknown = options.redeclare?.find((name) => !tables.has(name))
  if (unknown !== undefined) throw new InvalidInputError('redeclare', 'names a table that this feed does not declare')
}

/** Checks how long and how often a lock is waited for. */
export function checkLockOptions({
  lockTimeoutMs,
  lockAttempts,
}: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>): void {
  requireWhole('lockTimeoutMs', lockTimeoutMs, 600_000)
  requireWhole('lockAttempts', lockAttempts, 1_000)
}

function requireWhole(field: string, value: unknown, max: number): void {
  if (value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max)) return
  throw new InvalidInputError(field, `must be a whole number from 1 to ${max}`)
}

function requireNames(field: string, value: unknown): void {
  if (value === undefined || (Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')))
    return
  throw new InvalidInputError(field, 'must be a list of names')
}
