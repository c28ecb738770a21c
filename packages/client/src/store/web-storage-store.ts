import type { CursorStore } from './cursor-store.ts'

/** The part of the browser's `Storage` that is used. */
export interface WebStorageLike {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

export interface WebStorageStoreOptions {
  /** Begins the name of each item. Default: `tidemark:`. */
  readonly prefix?: string
}

/**
 * A store on `localStorage` or `sessionStorage`.
 *
 * Choose the one that lives as long as what your listeners keep: `localStorage` beside rows that survive a reload. When
 * only queries are refetched, a page that starts anew reads everything anew, and no store is needed at all.
 *
 * @param storage The storage, or a function that gives it: browsers that forbid storage throw when it is merely named.
 * @example webStorageStore(() => localStorage)
 */
export function webStorageStore(
  storage: WebStorageLike | (() => WebStorageLike),
  options: WebStorageStoreOptions = {},
): CursorStore {
  const { prefix = 'tidemark:' } = options
  const place = typeof storage === 'function' ? storage : (): WebStorageLike => storage
  return {
    get: (entry) => place().getItem(prefix + entry),
    set: (entry, cursor) => place().setItem(prefix + entry, cursor),
    delete: (entry) => place().removeItem(prefix + entry),
  }
}
