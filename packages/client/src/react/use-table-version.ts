import { useCallback, useSyncExternalStore } from 'react'
import type { SyncClient } from '../sync-client.ts'
import { useFollowing } from './use-sync-status.ts'

/**
 * A number that grows whenever rows of the table, or of one of the tables, may have changed; the component renders
 * again with it. Read the rows in an effect that depends on it, or put it into a query's key.
 *
 * It also grows once when following begins, since rows read before may already be old. `0` in server rendering.
 *
 * @example
 * const version = useTableVersion(sync, 'shipments')
 * useEffect(() => void load(), [version])
 */
export function useTableVersion<T extends string>(
  sync: SyncClient<T>,
  table: NoInfer<T> | readonly NoInfer<T>[],
): number {
  const getVersion = useCallback((): number => {
    const tables = typeof table === 'string' ? [table] : table
    return tables.reduce((sum, name) => sum + sync.version(name), 0)
  }, [sync, table])
  return useSyncExternalStore(useFollowing(sync), getVersion, zero)
}

function zero(): number {
  return 0
}
