import type { ResyncReason } from './answer.ts'
import type { SyncEnvironment } from './environment.ts'
import type { SyncClientError } from './errors.ts'
import type { ChangesInput, ChangesOutput, WireChange } from './protocol.ts'
import type { CursorStore } from './store/cursor-store.ts'
import type { SyncSnapshot } from './sync-snapshot.ts'

/**
 * The part of a vanilla tRPC client that is used: the branch that `createSyncRouter` was mounted under, such as
 * `trpc.sync`. Any link and any transformer will do.
 */
export interface SyncBranch {
  readonly changes: {
    query(input: ChangesInput, options?: { signal?: AbortSignal }): Promise<ChangesOutput>
  }
}

/** Names of the tables that the router behind `trpc` declares. */
export type TableNameOf<P extends SyncBranch> = P['changes']['query'] extends (
  input: infer I,
  ...rest: never[]
) => unknown
  ? I extends { readonly tables?: readonly (infer T)[] | undefined }
    ? Extract<T, string>
    : never
  : never

/** Options of {@link createSyncClient}. */
export type SyncClientOptions<P extends SyncBranch, T extends TableNameOf<P>> = {
  /** Branch of the app's vanilla tRPC client. Headers and tokens are its business, read anew for each request. */
  readonly trpc: P
  /** Tables to follow, 1 to 200. Default: all that the router declares. */
  readonly tables?: readonly T[] | undefined
  /**
   * Where to begin when the store holds no cursor. `'now'` (default): at the head; listeners get one `start` resync,
   * since what was read before may already be old. `'start'`: at the oldest retained change. Or a cursor, such as one
   * read together with the rows; it is the first identity's, so `setKey()` and `forget()` go on at `'now'` instead.
   */
  readonly since?: 'now' | 'start' | (string & {}) | undefined
  /** Milliseconds between two polls when there is nothing more to read, ± 10 %. 100 to 3,600,000, default 2,000. */
  readonly intervalMs?: number | undefined
  /** Changes per page, 1 to 5,000. Default: the server's, 500. */
  readonly limit?: number | undefined
  /**
   * Milliseconds after which a request without an answer is aborted and tried again. 1,000 to 3,600,000, default
   * 30,000.
   */
  readonly timeoutMs?: number | undefined
  /**
   * A plain object whose members replace those of {@link defaultEnvironment}: timers, jitter, visibility, connectivity.
   */
  readonly environment?: Partial<SyncEnvironment> | undefined
  /** Told of every error, also of those that the client gets over by itself. The snapshot shows the current one. */
  readonly onError?: ((error: SyncClientError) => void) | undefined
} & (
  | {
      /** Keeps the cursor beyond this object. Needs `key`. Default: none, so each client begins at `since`. */
      readonly store: CursorStore
      /**
       * Whose cursor it is: name tenant and user, such as `acme/u17`. A cursor stored under one key is never used under
       * another. Apps without sign-in give any constant.
       */
      readonly key: string
    }
  | { readonly store?: undefined; readonly key?: string | undefined }
)

/** A page of changes, as listeners get it. */
export interface ChangesEvent<T extends string> {
  /**
   * At least one, in the order of the feed. A row may be in it twice; `operation` is a hint and the row itself the
   * truth.
   */
  readonly changes: readonly WireChange<T>[]
  /** Whether more pages follow at once. */
  readonly hasMore: boolean
  /** Whether everything is seen with this page: until then a parent of a row seen may still be missing. */
  readonly upToDate: boolean
  /** Aborted when the client stops or changes its identity before the listener has ended. */
  readonly signal: AbortSignal
}

/** Everything that was read before may be old, also of rows that no change will name: read it anew. */
export interface ResyncEvent {
  /** The server's reason, or `start`: following begins at the head, after whatever was read before. */
  readonly reason: ResyncReason
  /** Aborted when the client stops or changes its identity before the listener has ended. */
  readonly signal: AbortSignal
}

/**
 * Follows the feed for one identity. All methods may be passed around without the object.
 *
 * Delivery is at least once, in order, one page at a time: a page counts as delivered, and its cursor is kept, when all
 * listeners have returned and their promises are fulfilled. A listener that throws gets the page again after a pause,
 * as do the others. A promise that never settles holds the feed.
 */
export interface SyncClient<T extends string> {
  /** Starts following, or starts again after `failed`; while following it does nothing. */
  start(): void
  /**
   * Stops at once: the request in flight and any pause are aborted, a late answer is dropped. `start()` goes on where
   * it stopped.
   */
  stop(): void
  /**
   * Follows as long as anyone holds on: starts with the first, stops after the last has let go (a hand-over within one
   * tick does not stop it). `start()` keeps it going without holders, `stop()` stops it in spite of them. Returns the
   * function that lets go.
   */
  retain(): () => void
  /**
   * Polls now instead of at the end of the interval, for example after an own write. During a pause after an error it
   * does nothing.
   */
  poll(): void
  /**
   * Goes on as another identity. What belongs to the former is aborted and dropped, its cursor stays in the store under
   * its own key, and all versions are raised. Give the tRPC client its new token first.
   */
  setKey(key: string): void
  /**
   * Drops the cursor of the current identity from memory and store, and goes on at `since`, or at
   * `'now'` if that was a cursor. For sign-out, and to get
   * out of a failure by `invalidCursor`. Rejects with a {@link SyncClientError} when the store failed to delete it.
   */
  forget(): Promise<void>
  /** Adds a listener for pages of changes. Returns the function that removes it. */
  onChanges(listener: (event: ChangesEvent<T>) => unknown): () => void
  /** Adds a listener for resyncs, awaited like one for changes. Returns the function that removes it. */
  onResync(listener: (event: ResyncEvent) => unknown): () => void
  /**
   * Calls back whenever {@link getSnapshot} or any {@link version} gives something new. Returns the function that ends
   * it.
   */
  subscribe(listener: () => void): () => void
  /** How following goes. The same object as long as nothing in it changes. */
  getSnapshot(): SyncSnapshot
  /**
   * A number that grows when rows of the table may have changed: put it into a query's key, or read again when it
   * moves. While pages follow one another it is raised once at the end, at the latest after 20 pages.
   */
  version(table: T): number
  /** The latest delivered cursor, to be stored beside rows or handed to another client; `null` before the first. */
  readonly cursor: string | null
}
