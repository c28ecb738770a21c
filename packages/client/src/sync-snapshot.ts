import type { SyncClientError } from './errors.ts'
import type { SyncState } from './sync-model.ts'

/**
 * How following goes, for people to look at. `status` alone decides the shape:
 *
 * - `idle`: not started, or stopped.
 * - `connecting`: no answer yet since the loop became active.
 * - `upToDate`: the latest answer held everything there was.
 * - `behind`: more is to come.
 * - `paused`: the page is hidden or the device offline; it goes on by itself.
 * - `retrying`: `error` keeps it from following; it goes on by itself, in growing pauses.
 * - `failed`: `error` ended it; nothing happens before `start()`, `setKey()` or `forget()`.
 *
 * `storeError` is set in any status while the cursor cannot be kept in the store: following goes on from memory.
 */
export type SyncSnapshot =
  | Snapshot<'idle' | 'connecting' | 'upToDate' | 'behind', null>
  | (Snapshot<'paused', null> & { readonly reason: 'hidden' | 'offline' })
  | Snapshot<'retrying' | 'failed', SyncClientError>

/** One member for each status: the compiler tells them apart only so. */
type Snapshot<S extends string, E> = S extends unknown
  ? { readonly status: S; readonly error: E; readonly storeError: SyncClientError | null }
  : never

/** Any of the statuses of {@link SyncSnapshot}. */
export type SyncStatus = SyncSnapshot['status']

/** The snapshot of a client that was never started; also what server rendering shows. */
export const IDLE: SyncSnapshot = { status: 'idle', error: null, storeError: null }

/** The snapshot of a state: `previous` itself when nothing in it differs. */
export function snapshotOf(state: SyncState, previous: SyncSnapshot): SyncSnapshot {
  const next = describe(state)
  // Snapshots of one status have the same members, and all of them are compared by identity.
  const names = Object.keys(next) as (keyof SyncSnapshot)[]
  return names.every((name) => next[name] === previous[name]) ? previous : next
}

function describe({ phase, activity, error, storeError, progress }: SyncState): SyncSnapshot {
  if (phase.kind === 'waiting' && activity !== 'active')
    return { status: 'paused', reason: activity, error: null, storeError }
  if (error !== null) return { status: phase.kind === 'failed' ? 'failed' : 'retrying', error, storeError }
  return { status: phase.kind === 'idle' ? 'idle' : progress === 'none' ? 'connecting' : progress, error, storeError }
}
