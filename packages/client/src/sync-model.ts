import type { Answer, Delivery } from './answer.ts'
import type { SyncClientError } from './errors.ts'
import type { Failure } from './failure.ts'
import type { Pause } from './pause.ts'

/** Whether the loop may send requests now, and if not, why not. */
export type Activity = 'active' | 'hidden' | 'offline'

/** What the loop is doing. Exactly one thing at a time, so two requests never overlap. */
export type Phase =
  | { readonly kind: 'idle' }
  /** Reads the stored cursor. */
  | { readonly kind: 'loading' }
  /** `again`: someone asked for a poll after this request was sent, so another one follows at once. */
  | { readonly kind: 'requesting'; readonly again: boolean }
  /** The listeners run. The cursor moves when they are done, not before. */
  | { readonly kind: 'delivering'; readonly delivery: Delivery; readonly again: boolean }
  /**
   * Pauses. `byServer`: only time ends it. `inactive`: only the return of the page or the network ends it; it has no
   * timer. `pending`: a resync to be delivered afterwards.
   */
  | {
      readonly kind: 'waiting'
      readonly why: 'interval' | 'retry' | 'byServer' | 'inactive'
      readonly pending: Delivery | null
    }
  /** Stopped by an error that only a person can mend. */
  | { readonly kind: 'failed' }

export interface SyncState {
  readonly phase: Phase
  /**
   * Number of the latest effect that reports back; whatever reports under another number comes too late and is dropped.
   */
  readonly run: number
  /** Where to begin without a cursor: `now`, `start`, or a cursor until the first `forget`. */
  readonly since: string
  /** The last cursor whose delivery ended well, exactly as the server gave it. */
  readonly cursor: string | null
  readonly activity: Activity
  /** Attempts in a row that failed. */
  readonly failures: number
  /** Delivered resyncs in a row, without an up-to-date page between them. */
  readonly resyncs: number
  /** What the latest delivery said since the loop became active; `none` before it. */
  readonly progress: 'none' | 'behind' | 'upToDate'
  /** What keeps the loop from following now. */
  readonly error: SyncClientError | null
  /** Why the cursor is not kept beyond this page; the loop goes on without. */
  readonly storeError: SyncClientError | null
  /** Tables touched since versions were raised last. */
  readonly touched: Touched
  /** Deliveries since `touched` was empty. */
  readonly unraised: number
}

/** Names of tables, or all of them. */
export type Touched = ReadonlySet<string> | 'all'

export type SyncEvent =
  | { readonly type: 'start'; readonly activity: Activity }
  | { readonly type: 'stop' }
  /** Another identity, or the same one without its past: the cursor in memory is void. */
  | { readonly type: 'forget' }
  /** The store was read; `error` when it could not be. */
  | {
      readonly type: 'loaded'
      readonly run: number
      readonly cursor: string | null
      readonly error: SyncClientError | null
    }
  | { readonly type: 'answered'; readonly run: number; readonly answer: Answer }
  | { readonly type: 'requestFailed'; readonly run: number; readonly failure: Failure }
  | { readonly type: 'delivered'; readonly run: number }
  | { readonly type: 'deliveryFailed'; readonly run: number; readonly error: SyncClientError }
  | { readonly type: 'timer'; readonly run: number }
  | { readonly type: 'activity'; readonly activity: Activity }
  | { readonly type: 'poll' }
  /** The store was written; `error` when it could not be. */
  | { readonly type: 'stored'; readonly error: SyncClientError | null }

/** Each effect with a `run` replaces, and so aborts, the one before it; `cancel` only aborts. */
export type SyncEffect =
  | { readonly type: 'load'; readonly run: number }
  | { readonly type: 'request'; readonly run: number; readonly since: string }
  | { readonly type: 'deliver'; readonly run: number; readonly delivery: Delivery }
  | { readonly type: 'wait'; readonly run: number; readonly pause: Pause }
  | { readonly type: 'cancel' }
  | { readonly type: 'save'; readonly cursor: string }
  | { readonly type: 'raiseVersions'; readonly touched: Touched }
  | { readonly type: 'report'; readonly error: SyncClientError }

export interface Step {
  readonly state: SyncState
  readonly effects: readonly SyncEffect[]
}

export const NOTHING: Touched = new Set()

export function initialState(since: string): SyncState {
  return {
    phase: { kind: 'idle' },
    run: 0,
    since,
    cursor: null,
    activity: 'active',
    failures: 0,
    resyncs: 0,
    progress: 'none',
    error: null,
    storeError: null,
    touched: NOTHING,
    unraised: 0,
  }
}

/** Whether there is a loop at all. */
export function isRunning({ phase }: SyncState): boolean {
  return phase.kind !== 'idle' && phase.kind !== 'failed'
}
