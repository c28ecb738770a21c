import type { Delivery } from './answer.ts'
import { defaultEnvironment } from './environment.ts'
import { Listeners, surfacing } from './listeners.ts'
import { Poller } from './poller.ts'
import type { ChangesInput, WireChange } from './protocol.ts'
import { memoryStore } from './store/cursor-store.ts'
import type {
  ChangesEvent,
  ResyncEvent,
  SyncClient,
  SyncClientOptions,
  SyncBranch,
  TableNameOf,
} from './sync-client.ts'
import { Versions } from './versions.ts'

/**
 * Makes a client that follows the feed by polling `changes`. It does nothing before `start()` or `retain()`.
 *
 * One request at a time; full pages are followed at once, otherwise every `intervalMs`. It pauses while the page is
 * hidden or the device offline and asks exactly once on return. One client per identity and page is enough for any
 * number of listeners and hooks.
 *
 * @throws TypeError when an option is out of bounds.
 * @example
 * const sync = createSyncClient({ trpc: trpc.sync, tables: ['shipments', 'notes'] })
 * sync.onChanges(({ changes }) => refetch(new Set(changes.map((change) => change.table))))
 * sync.onResync(() => refetchEverything())
 * sync.start()
 */
export function createSyncClient<P extends SyncBranch, const T extends TableNameOf<P>>(
  options: SyncClientOptions<P, T>,
): SyncClient<T> {
  const { trpc, since = 'now', store, key = '', limit, intervalMs = 2_000, timeoutMs = 30_000, onError } = options
  const tables = options.tables === undefined ? undefined : [...new Set(options.tables)].sort()
  if (tables !== undefined && (tables.length < 1 || tables.length > 200))
    throw new TypeError('"tables": expected 1 to 200 names, or none for all tables')
  if (store !== undefined && key === '') throw new TypeError(NO_KEY)
  if (since === '') throw new TypeError("\"since\": expected 'now', 'start' or a cursor")
  within('limit', limit ?? 1, 1, 5_000)
  within('intervalMs', intervalMs, 100, 3_600_000)
  within('timeoutMs', timeoutMs, 1_000, 3_600_000)

  // Part of the entry: a cursor read for other tables stands behind changes that these listeners have not seen.
  const entryOf = (owner: string): string => JSON.stringify([owner, ...(tables ?? ['*'])])
  const view = {
    ...(tables === undefined ? {} : { tables }),
    ...(limit === undefined ? {} : { limit }),
  } satisfies Partial<ChangesInput>
  const versions = new Versions()
  const watchers = new Listeners<void>()
  const changesListeners = new Listeners<ChangesEvent<T>>()
  const resyncListeners = new Listeners<ResyncEvent>()
  const poller = new Poller({
    environment: { ...defaultEnvironment(), ...options.environment },
    store: store ?? memoryStore(),
    entry: entryOf(key),
    since,
    intervalMs,
    timeoutMs,
    request: (cursor, signal) => trpc.changes.query({ since: cursor, ...view }, { signal }),
    deliver: async ({ reason, changes, hasMore, upToDate }: Delivery, signal) => {
      if (reason !== null) await resyncListeners.run({ reason, signal })
      // The server answers for the tables it was asked for.
      else if (changes.length > 0)
        await changesListeners.run({ changes: changes as readonly WireChange<T>[], hasMore, upToDate, signal })
    },
    onVersions: (touched) => versions.raise(touched),
    onError: (error) => surfacing(() => onError?.(error)),
    onChange: () => watchers.notify(),
  })

  let started = false
  let halted = false
  let holders = 0
  const wanted = (): boolean => started || (holders > 0 && !halted)

  return {
    start: () => {
      started = true
      halted = false
      poller.start()
    },
    stop: () => {
      started = false
      halted = true
      poller.stop()
    },
    retain: () => {
      const already = wanted()
      holders += 1
      if (!already && wanted()) poller.start()
      let holding = true
      return () => {
        if (!holding) return
        holding = false
        holders -= 1
        // A component that mounts again, or the next page's first hook, takes over within the same tick.
        queueMicrotask(() => {
          if (holders > 0) return
          halted = false
          if (!wanted()) poller.stop()
        })
      }
    },
    poll: () => poller.poll(),
    setKey: (next) => {
      if (store !== undefined && next === '') throw new TypeError(NO_KEY)
      poller.switchTo(entryOf(next))
    },
    forget: () => poller.forget(),
    onChanges: (listener) => changesListeners.add(listener),
    onResync: (listener) => resyncListeners.add(listener),
    subscribe: (listener) => watchers.add(listener),
    getSnapshot: () => poller.snapshot,
    version: (table) => versions.of(table),
    get cursor() {
      return poller.cursor
    },
  }
}

const NO_KEY = '"key": a store needs one: tenant and user, or any constant'

function within(option: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new TypeError(`"${option}": expected a whole number from ${least} to ${most}`)
}
