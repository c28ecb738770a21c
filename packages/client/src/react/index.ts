export { useChanges } from './use-changes.ts'
export type { UseChangesOptions } from './use-changes.ts'
export { useSyncStatus } from './use-sync-status.ts'
export { useTableVersion } from './use-table-version.ts'
