import { DeclarationConflictError, InvalidTenantError, NotMigratedError } from '../../errors.ts'
import type { Catalogue, FeedSetup, InstalledTable, TenantType } from '../dialect.ts'
import { canonicalTextOfGiven } from './capture/canonical-text.ts'
import { hasLabels } from './capture/enum-labels.ts'
import { identityConflict } from './identity-conflict.ts'
import { appliedSteps, pendingSteps } from './migrate-schema.ts'
import { identifier, isDataException, isMissingObject, run } from './run.ts'

/** SQL over the state row: the epoch, then the number that grows with each change of the catalogue. */
export const catalogueVersion = `epoch || '.' || catalogue_version`

export function epochOf(version: string): string {
  return version.slice(0, version.indexOf('.'))
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
  const [row] = await run<{ version: string; tracked: string }>(
    setup.db,
    `select (select ${catalogueVersion} from ${schema}.state) as version,
       (select coalesce(json_agg(json_build_object('number', number, 'name', name, 'key', key_columns, 'tenant', tenant_column, 'scopes', scope_columns)), '[]')
        from ${schema}.tracked where relation is not null)::text as tracked`,
  )
  const byName = new Map<string, InstalledTable>()
  const byNumber = new Map<number, InstalledTable>()
  let tenantType: TenantType | null = null
  for (const tracked of JSON.parse(row?.tracked ?? '[]') as InstalledTable[]) {
    if (tracked.tenant !== null) tenantType = { castTo: tracked.tenant.castTo, kind: tracked.tenant.kind }
    const declared = setup.tables.get(tracked.name)
    if (declared === undefined) continue
    if (identityConflict(tracked, declared) !== null) {
      throw new DeclarationConflictError(
        tracked.name,
        'is captured with another key or tenant column than declared here; see migrate({ redeclare })',
      )
    }
    byName.set(tracked.name, tracked)
    byNumber.set(tracked.number, tracked)
  }
  const version = row?.version ?? ''
  return { epoch: epochOf(version), version, tenantType, byName, byNumber }
}

/** What says whether a loaded catalogue still holds: epoch and version. */
export async function currentVersion(setup: FeedSetup): Promise<string> {
  try {
    const [row] = await run<{ version: string }>(
      setup.db,
      `select ${catalogueVersion} as version from ${identifier(setup.schema)}.state`,
    )
    if (row !== undefined) return row.version
  } catch (error) {
    if (!isMissingObject(error)) throw error
  }
  throw new NotMigratedError('the feed is not installed in this database')
}

/** Casts a tenant value as Postgres casts it and brings it to the text the log holds. */
export async function canonicalTenant(setup: FeedSetup, type: TenantType, value: string): Promise<string> {
  if (type.kind === 'enum') {
    if (await hasLabels(setup.db, type.castTo, [value])) return value
    throw new InvalidTenantError()
  }
  try {
    const [row] = await run<{ tenant: string }>(
      setup.db,
      `select ${canonicalTextOfGiven('$1::text', type)} as tenant`,
      [value],
    )
    if (row === undefined) throw new Error('a cast returned no row')
    // A name is cut at 63 bytes, in silence: that would be another tenant.
    if (type.castTo === NAME && row.tenant !== value) throw new InvalidTenantError()
    return row.tenant
  } catch (error) {
    if (isDataException(error)) throw new InvalidTenantError()
    throw error
  }
}

const NAME = '"pg_catalog"."name"'
