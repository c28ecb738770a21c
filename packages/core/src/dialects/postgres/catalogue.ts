import { DeclarationConflictError, InvalidTenantError, NotMigratedError } from '../../errors.ts'
import type { Catalogue, FeedSetup, InstalledTable, TenantType } from '../dialect.ts'
import { type CanonicalKind, canonicalText } from './canonical-text.ts'
import { appliedSteps, pendingSteps } from './migrate-schema.ts'
import { identifier, isDataException, run } from './run.ts'

interface TrackedRow {
  readonly number: number
  readonly name: string
  readonly key: InstalledTable['key']
  readonly tenant: InstalledTable['tenant']
  readonly scopes: InstalledTable['scopes']
}

/** Reads the feed's catalogue as far as the declared tables need it. */
export async function loadCatalogue(setup: FeedSetup): Promise<Catalogue> {
  const applied = await appliedSteps(setup.db, setup.schema)
  if (applied === null || pendingSteps(applied).length > 0) {
    throw new NotMigratedError(
      `the feed's schema "${setup.schema}" is not installed, or not up to date, in this database`,
    )
  }
  const schema = identifier(setup.schema)
  const [row] = await run<{ epoch: string; tracked: string }>(
    setup.db,
    `select (select epoch from ${schema}.state) as epoch,
       (select coalesce(json_agg(json_build_object('number', number, 'name', name, 'key', key_columns, 'tenant', tenant_column, 'scopes', scope_columns)), '[]')
        from ${schema}.tracked where relation is not null)::text as tracked`,
  )
  const byName = new Map<string, InstalledTable>()
  const byNumber = new Map<number, InstalledTable>()
  let tenantType: TenantType | null = null
  for (const tracked of JSON.parse(row?.tracked ?? '[]') as TrackedRow[]) {
    if (tracked.tenant !== null) tenantType = { castTo: tracked.tenant.castTo, kind: tracked.tenant.kind }
    const declared = setup.tables.get(tracked.name)
    if (declared === undefined) continue
    if (
      tracked.key.map(({ name }) => name).join('\0') !== declared.key.join('\0') ||
      (tracked.tenant?.name ?? null) !== declared.tenant
    ) {
      throw new DeclarationConflictError(
        tracked.name,
        'is captured with another key or tenant column than declared here; see migrate({ redeclare })',
      )
    }
    byName.set(tracked.name, tracked)
    byNumber.set(tracked.number, tracked)
  }
  return { epoch: row?.epoch ?? '', tenantType, byName, byNumber }
}

/** The epoch as it is now. */
export async function currentEpoch(setup: FeedSetup): Promise<string> {
  const [row] = await run<{ epoch: string }>(setup.db, `select epoch from ${identifier(setup.schema)}.state`)
  if (row === undefined) throw new NotMigratedError('the feed is not installed in this database')
  return row.epoch
}

/** Casts a tenant value as Postgres casts it and brings it to the text the log holds. */
export async function canonicalTenant(setup: FeedSetup, type: TenantType, value: string): Promise<string> {
  try {
    const [row] = await run<{ tenant: string }>(
      setup.db,
      `select ${canonicalText('given.value', type.kind as CanonicalKind)} as tenant from (select $1::text::${type.castTo} as value) given`,
      [value],
    )
    if (row === undefined) throw new Error('a cast returned no row')
    return row.tenant
  } catch (error) {
    if (isDataException(error)) throw new InvalidTenantError()
    throw error
  }
}
