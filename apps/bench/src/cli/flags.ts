import { parseArgs } from 'node:util'
import type { PostgresVersion } from '@tidemark/local-postgres'

/** Wrong arguments: the message says which, and the program shows its usage and exits with 2. */
export class UsageError extends Error {}

/** Flags as text by name; `true` for one without a value. */
export type Flags = Readonly<Record<string, string | true>>

/** Reads flags by the names given; anything else is a `UsageError`. */
export function readFlags(args: readonly string[], withValue: readonly string[], bare: readonly string[]): Flags {
  const options = Object.fromEntries([
    ...withValue.map((name) => [name, { type: 'string' as const }]),
    ...bare.map((name) => [name, { type: 'boolean' as const }]),
  ])
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false })
    return values as Flags
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** A number within bounds, or the default when the flag was not given. */
export function numberFlag(flags: Flags, name: string, fallback: number, min: number, max: number): number {
  const text = flags[name]
  if (text === undefined) return fallback
  const value = Number(text)
  if (typeof text !== 'string' || text.trim() === '' || !(value >= min && value <= max)) {
    throw new UsageError(`--${name} must be a number from ${min} to ${max}`)
  }
  return value
}

/** Like {@link numberFlag}, whole numbers only. */
export function wholeFlag(flags: Flags, name: string, fallback: number, min: number, max: number): number {
  const value = numberFlag(flags, name, fallback, min, max)
  if (!Number.isInteger(value)) throw new UsageError(`--${name} must be a whole number`)
  return value
}

/** One of a closed set of texts, or `undefined` when the flag was not given. */
export function choiceFlag<T extends string>(flags: Flags, name: string, choices: readonly T[]): T | undefined {
  const text = flags[name]
  if (text === undefined) return undefined
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}`)
  return found
}

/** The server to start when `TEST_DATABASE_URL` names none. */
export function serverFlag(flags: Flags): PostgresVersion {
  const name = choiceFlag(flags, 'server', ['embedded', '15', '16', '17', '18']) ?? 'embedded'
  return name === 'embedded' ? name : (Number(name) as 15 | 16 | 17 | 18)
}
