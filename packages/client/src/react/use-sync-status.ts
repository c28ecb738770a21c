import { useCallback, useSyncExternalStore } from 'react'
import type { SyncClient } from '../sync-client.ts'
import { IDLE, type SyncSnapshot } from '../sync-snapshot.ts'

/**
 * How following goes; renders again when that changes. The client follows while any component uses one of the hooks of
 * this entry on it.
 *
 * @example
 * const { status, error } = useSyncStatus(sync)
 */
export function useSyncStatus(sync: Pick<SyncClient<never>, 'subscribe' | 'retain' | 'getSnapshot'>): SyncSnapshot {
  return useSyncExternalStore(useFollowing(sync), sync.getSnapshot, serverSnapshot)
}

/** Subscribing keeps the client going: one effect, so the two cannot come apart. Made anew only for another client. */
export function useFollowing({
  subscribe,
  retain,
}: Pick<SyncClient<never>, 'subscribe' | 'retain'>): (listener: () => void) => () => void {
  return useCallback(
    (listener) => {
      const unsubscribe = subscribe(listener)
      const release = retain()
      return () => {
        unsubscribe()
        release()
      }
    },
    [subscribe, retain],
  )
}

function serverSnapshot(): SyncSnapshot {
  return IDLE
}
