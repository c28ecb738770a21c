import { z } from 'zod'
import { syncLimits as limits } from '../limits.ts'
import type { ChangesInput, NotifyInput } from '../protocol.ts'

// Every text that comes in is bounded; unknown fields are refused, since a misspelt `tables` would read all tables.
const text = (max: number, what: string) => {
  const error = `must be ${what}, 1 to ${max.toLocaleString('en')} characters`
  return z.string({ error }).min(1, { error }).max(max, { error })
}

const strict = {
  error: (issue: { readonly code?: string }) =>
    issue.code === 'unrecognized_keys'
      ? 'no such field; leave it out'
      : 'must be an object with the fields of this procedure',
}

const tableName = text(limits.nameLength, 'the name of a declared table')
const tablesError = `must name 1 to ${limits.tables} tables; leave it out for all`
const limitError = `must be a whole number from 1 to ${limits.pageChanges.toLocaleString('en')}`
const keysError = `must be 1 to ${limits.notifyKeys.toLocaleString('en')} key texts; leave it out when the whole table changed`
const entriesError = `must be 1 to ${limits.notifyEntries} entries`
const scopesError = `must give 1 to ${limits.scopes} scope columns a value each`
const scopeError = `must be text of at most ${limits.scopeLength.toLocaleString('en')} characters, a finite number, a boolean or null`

/** Input of `changes`, as `ChangesInput` promises it. */
export const changesInput: z.ZodType<ChangesInput> = z.strictObject(
  {
    since: text(limits.cursorLength, "a cursor, 'start' or 'now'"),
    tables: z
      .array(tableName, { error: tablesError })
      .min(1, { error: tablesError })
      .max(limits.tables, { error: tablesError })
      .optional(),
    limit: z
      .int({ error: limitError })
      .min(1, { error: limitError })
      .max(limits.pageChanges, { error: limitError })
      .optional(),
  },
  strict,
)

const scopeValue = z.union(
  [z.string().max(limits.scopeLength, { error: scopeError }), z.number(), z.boolean(), z.null()],
  { error: scopeError },
)

const notifyEntry = z.strictObject(
  {
    table: tableName,
    keys: z
      .array(text(limits.keyLength, 'a canonical key text'), { error: keysError })
      .min(1, { error: keysError })
      .max(limits.notifyKeys, { error: keysError })
      .optional(),
    scopes: z
      .record(z.string().min(1).max(limits.nameLength), scopeValue, { error: scopesError })
      .refine((scopes) => inRange(Object.keys(scopes).length, limits.scopes), { error: scopesError })
      .optional(),
  },
  strict,
)

/** Input of `notify`, as `NotifyInput` promises it. */
export const notifyInput: z.ZodType<NotifyInput> = z.strictObject(
  {
    entries: z
      .array(notifyEntry, { error: entriesError })
      .min(1, { error: entriesError })
      .max(limits.notifyEntries, { error: entriesError })
      .refine((entries) => entries.reduce((sum, entry) => sum + (entry.keys?.length ?? 0), 0) <= limits.notifyKeys, {
        error: `must hold at most ${limits.notifyKeys.toLocaleString('en')} keys in all; send several calls`,
      }),
    reason: text(limits.reasonLength, 'a note for operators').optional(),
  },
  strict,
)

function inRange(value: number, max: number): boolean {
  return value >= 1 && value <= max
}
