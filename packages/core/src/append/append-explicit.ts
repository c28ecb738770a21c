import type { Transaction } from 'kysely'
import { type GlobalAudience, isAudience, requireTenancy, type TenantAudience } from '../audience.ts'
import type { Operation } from '../change.ts'
import type { CataloguedColumn, ExplicitEntry, InstalledTable } from '../dialects/dialect.ts'
import { InvalidInputError, NotMigratedError, UnknownTableError } from '../errors.ts'
import type { Feed } from '../feed.ts'
import { internalsOf } from '../internal/internals.ts'
import type { AppendResult } from './notify.ts'
import { isPlainObject, keyParts, valueText } from './value-text.ts'

/** An entry as it arrives, before it is checked: the compiler has not seen every caller. */
export interface LooseEntry {
  readonly table: string
  readonly keys?: readonly unknown[]
  readonly scopes?: Readonly<Record<string, unknown>>
}

export interface AskedEntry {
  readonly entry: LooseEntry
  readonly operation: Operation
  /** Path of the entry in the caller's arguments. */
  readonly field: string
}

const MAX_KEYS = 10_000
const MAX_NOTE = 200

/** What `notify` and `appendChange` share: checks, canonical texts, the append, the token. */
export async function appendExplicit<DB, TT>(
  feed: Feed<DB, TT>,
  transaction: Transaction<DB>,
  audience: TenantAudience | GlobalAudience,
  asked: readonly AskedEntry[],
  note: { readonly reason: string | null; readonly actor: string | null },
): Promise<AppendResult> {
  const internals = internalsOf(feed)
  if (!isAudience(audience) || (audience as { kind: string }).kind === 'all') {
    throw new InvalidInputError('audience', 'must be made by tenant(), or be globalOnly')
  }
  requireTenancy(audience, internals.setup.tenancy)
  if (transaction?.isTransaction !== true) {
    throw new InvalidInputError('transaction', 'must be the transaction of the write, from db.transaction()')
  }
  const catalogue = await internals.currentCatalogue(
    asked.map(({ entry }) => entry.table),
    transaction,
  )
  const tenant =
    audience.kind === 'tenant' ? await internals.canonicalTenant(catalogue, audience.tenant, transaction) : null
  let keyCount = 0
  const entries = asked.map(({ entry, operation, field }): ExplicitEntry => {
    const at = (name: string): string => (field === '' ? name : `${field}.${name}`)
    const table = installedTable(internals.setup.tables, catalogue.byName, entry.table, at('table'))
    const keys = entry.keys === undefined ? null : keysOf(table, entry.keys, at('keys'))
    keyCount += keys?.length ?? 0
    if (keyCount > MAX_KEYS)
      throw new InvalidInputError(at('keys'), `at most ${MAX_KEYS} keys in one call; announce the whole table instead`)
    if (keys !== null && table.tenant !== null && tenant === null) {
      throw new InvalidInputError(
        at('keys'),
        'rows of a tenant table belong to a tenant: use tenant(id), or leave keys out to announce the whole table',
      )
    }
    return {
      table,
      operation,
      tenant: table.tenant === null ? null : tenant,
      keys,
      scopes: scopesOf(table, internals.setup.tables.get(table.name)?.scopes ?? [], entry, at('scopes')),
      field: at('keys'),
    }
  })
  const { tx, changes } = await internals.dialect.append(internals.setup, transaction, entries, note)
  return { token: `${catalogue.epoch}.${tx}`, tables: [...new Set(entries.map(({ table }) => table.name))], changes }
}

/** Checks that an argument is an object at all. */
export function requireObject(field: string, value: unknown): void {
  if (!isPlainObject(value)) throw new InvalidInputError(field, 'must be an object')
}

/** Checks a text that is kept for operators. */
export function requireNote(field: string, value: unknown): void {
  if (value === null || (typeof value === 'string' && value.length <= MAX_NOTE && !value.includes('\0'))) return
  throw new InvalidInputError(field, `must be a text of at most ${MAX_NOTE} characters`)
}

function installedTable(
  declared: ReadonlyMap<string, unknown>,
  installed: ReadonlyMap<string, InstalledTable>,
  name: string,
  field: string,
): InstalledTable {
  if (!declared.has(name)) throw new UnknownTableError(field)
  const table = installed.get(name)
  if (table === undefined) throw new NotMigratedError(`the capture of table "${name}" is not installed`)
  return table
}

function keysOf(table: InstalledTable, keys: readonly unknown[], field: string): string[][] {
  if (!Array.isArray(keys) || keys.length === 0)
    throw new InvalidInputError(field, 'must be a list of at least one key, or be left out for the whole table')
  return keys.map((key, i) => keyParts(table.key, key, `${field}[${i}]`))
}

function scopesOf(
  table: InstalledTable,
  declared: readonly string[],
  entry: LooseEntry,
  field: string,
): (string | null)[] | null {
  if (entry.scopes === undefined) {
    if (declared.length === 0 || entry.keys === undefined) return null
    throw new InvalidInputError(
      field,
      "is required with keys, because the table declares scopes: give each scope column's value",
    )
  }
  const given: unknown = entry.scopes
  if (!isPlainObject(given)) throw new InvalidInputError(field, 'must be an object of values by scope column')
  const unknown = Object.keys(given).find((name) => !table.scopes.some((c) => c.name === name))
  if (unknown !== undefined) throw new InvalidInputError(`${field}.${unknown}`, 'is no scope column of the table')
  return table.scopes.map((c: CataloguedColumn) => {
    const value = given[c.name]
    // A newer version of the app may have added a scope that this one does not know.
    if (value === undefined && declared.includes(c.name)) {
      throw new InvalidInputError(
        `${field}.${c.name}`,
        'is missing: give every scope column, null where the row has none',
      )
    }
    return value === undefined || value === null ? null : valueText(value, c, `${field}.${c.name}`)
  })
}
