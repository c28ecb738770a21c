/**
 * Everything of the outside world that decides when to poll. There is no clock in it: pauses are timers, order is the
 * server's, so a device whose clock is wrong syncs like any other.
 */
export interface SyncEnvironment {
  /** Calls back once after `ms` milliseconds; the answer cancels it. */
  setTimer(callback: () => void, ms: number): () => void
  /** A number in [0, 1), for jitter. */
  random(): number
  /** Whether someone can see the page. Where there is no page: `true`. */
  isVisible(): boolean
  /** Whether there may be a network. Where that is not known: `true`. */
  isOnline(): boolean
  /** Calls back whenever `isVisible` or `isOnline` may have changed, until the returned function is called. */
  onActivity(callback: () => void): () => void
}

/**
 * The environment of the place where the code runs: browser tab, worker, Node or server rendering. Missing globals
 * count as visible and online. Nothing is touched before it is called.
 *
 * @example Keep polling in hidden tabs:
 * createSyncClient({ trpc: trpc.sync, environment: { isVisible: () => true } })
 */
export function defaultEnvironment(): SyncEnvironment {
  return {
    setTimer: (callback, ms) => {
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
    random: () => Math.random(),
    isVisible: () => typeof document === 'undefined' || document.visibilityState !== 'hidden',
    // Node 22 has a `navigator` without `onLine`: only an explicit `false` means offline.
    isOnline: () => typeof navigator === 'undefined' || navigator.onLine !== false,
    onActivity: (callback) => {
      const page = typeof document === 'undefined' ? undefined : document
      const listen = (change: 'addEventListener' | 'removeEventListener'): void => {
        const ofGlobal: Partial<EventTarget> = globalThis
        ofGlobal[change]?.('online', callback)
        ofGlobal[change]?.('offline', callback)
        page?.[change]('visibilitychange', callback)
      }
      listen('addEventListener')
      return () => listen('removeEventListener')
    },
  }
}
