import type { DeclaredTable, Tenancy } from './declaration.ts'
import { InvalidInputError } from './errors.ts'

interface LooseDeclaration {
  readonly tenant?: unknown
  readonly key?: unknown
  readonly scopes?: unknown
  readonly capture?: unknown
}

/** Checks the declarations at run time, for callers the compiler did not check, and brings them to one shape. */
export function normaliseDeclarations(tables: unknown, tenancy: Tenancy): ReadonlyMap<string, DeclaredTable> {
  if (typeof tables !== 'object' || tables === null || Array.isArray(tables))
    throw new InvalidInputError('tables', 'must be an object of declarations by table name')
  const normalised = new Map<string, DeclaredTable>()
  for (const [name, declaration] of Object.entries(tables as Record<string, LooseDeclaration | undefined>)) {
    if (declaration === undefined) continue
    const field = `tables.${name}`
    const parts = name.split('.')
    if (parts.length > 2 || parts.some((part) => !isName(part))) {
      throw new InvalidInputError(field, 'must be "table" or "schema.table"')
    }
    if (typeof declaration !== 'object' || declaration === null)
      throw new InvalidInputError(field, 'must be an object with key and tenant')
    const unknown = Object.keys(declaration).find((name) => !['key', 'tenant', 'scopes', 'capture'].includes(name))
    if (unknown !== undefined)
      throw new InvalidInputError(
        `${field}.${unknown}`,
        'is no field of a declaration: key, tenant, scopes and capture are',
      )
    const { key, tenant, scopes = [], capture } = declaration
    const keys = typeof key === 'string' ? [key] : key
    if (!isNameList(keys) || keys.length === 0)
      throw new InvalidInputError(`${field}.key`, 'must be a column name or a list of column names')
    if (!isNameList(scopes)) throw new InvalidInputError(`${field}.scopes`, 'must be a list of column names')
    if (capture !== undefined && capture !== 'row' && capture !== 'statement')
      throw new InvalidInputError(`${field}.capture`, "must be 'row', 'statement', or left out")
    normalised.set(name, {
      name,
      key: [...keys],
      tenant: tenantColumn(tenant, tenancy, field),
      scopes: [...scopes],
      capture: capture ?? 'auto',
    })
  }
  if (normalised.size === 0) throw new InvalidInputError('tables', 'must declare at least one table')
  return normalised
}

function tenantColumn(tenant: unknown, tenancy: Tenancy, field: string): string | null {
  if (tenancy === 'none') {
    if (tenant !== undefined && tenant !== null)
      throw new InvalidInputError(`${field}.tenant`, "must be left out in a feed with tenancy: 'none'")
    return null
  }
  if (tenant === null || isName(tenant)) return tenant
  throw new InvalidInputError(`${field}.tenant`, 'must be the tenant column, or null to say that the rows are global')
}

function isNameList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isName) && new Set(value).size === value.length
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 63 && !value.includes('\0')
}
