import type { DeclaredTable } from '../../declaration.ts'
import type { InstalledTable } from '../dialect.ts'

/**
 * What says otherwise in the installed capture about which rows are which and whose: the key, the tenant column, or nothing. Entries made under one cannot
 * be read under the other.
 */
export function identityConflict(
  installed: Pick<InstalledTable, 'key' | 'tenant'>,
  declared: DeclaredTable,
): 'key' | 'tenant column' | null {
  if (installed.key.map(({ name }) => name).join('\0') !== declared.key.join('\0')) return 'key'
  return (installed.tenant?.name ?? null) === declared.tenant ? null : 'tenant column'
}
