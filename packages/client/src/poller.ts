import { readAnswer, type Delivery } from './answer.ts'
import type { SyncEnvironment } from './environment.ts'
import { SyncClientError } from './errors.ts'
import { failureOf, protocolFailure } from './failure.ts'
import { pauseMs } from './pause.ts'
import { CursorKeeper } from './store/cursor-keeper.ts'
import type { CursorStore } from './store/cursor-store.ts'
import { initialState, type Activity, type SyncEffect, type SyncEvent, type SyncState } from './sync-model.ts'
import { IDLE, snapshotOf, type SyncSnapshot } from './sync-snapshot.ts'
import { transition } from './sync-state.ts'

export interface PollerOptions {
  readonly environment: SyncEnvironment
  readonly store: CursorStore
  /** Name of the store's entry. */
  readonly entry: string
  readonly since: string
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly request: (since: string, signal: AbortSignal) => Promise<unknown>
  readonly deliver: (delivery: Delivery, signal: AbortSignal) => Promise<void>
  readonly onVersions: (touched: (SyncEffect & { type: 'raiseVersions' })['touched']) => void
  readonly onError: (error: SyncClientError) => void
  /** Called after each event that changed the snapshot or the versions. */
  readonly onChange: () => void
}

/** Carries out what `sync-state.ts` decides: this is all the input and output of the loop. */
export class Poller {
  readonly #options: PollerOptions
  readonly #keeper: CursorKeeper
  readonly #events: SyncEvent[] = []
  #entry: string
  #state: SyncState
  #snapshot: SyncSnapshot = IDLE
  #dispatching = false
  #abort: AbortController | null = null
  #cancelTimer: (() => void) | null = null
  #unwatch: (() => void) | null = null
  #deliveries: Promise<void> = Promise.resolve()

  constructor(options: PollerOptions) {
    this.#options = options
    this.#entry = options.entry
    this.#state = initialState(options.since)
    this.#keeper = new CursorKeeper(options.store, {
      onSaved: () => this.#dispatch({ type: 'stored' }),
      onFailed: (error) => this.#dispatch({ type: 'storeFailed', error }),
    })
  }

  get snapshot(): SyncSnapshot {
    return this.#snapshot
  }

  get cursor(): string | null {
    return this.#state.cursor
  }

  start(): void {
    this.#dispatch({ type: 'start', activity: this.#activity() })
  }

  stop(): void {
    this.#dispatch({ type: 'stop' })
  }

  poll(): void {
    this.#dispatch({ type: 'poll' })
  }

  /** Goes on with another entry of the store. */
  switchTo(entry: string): void {
    this.#entry = entry
    this.#dispatch({ type: 'forget' })
  }

  /** Goes on without the cursor, here and in the store. */
  async forget(): Promise<void> {
    const deleted = this.#keeper.delete(this.#entry)
    this.#dispatch({ type: 'forget' })
    await deleted
  }

  /** Events that come while one is handled (a callback that calls `stop()`) wait for their turn. */
  #dispatch(event: SyncEvent): void {
    this.#events.push(event)
    if (this.#dispatching) return
    this.#dispatching = true
    let changed = false
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const { state, effects } = transition(this.#state, next)
      this.#state = state
      for (const effect of effects) this.#perform(effect)
      changed ||= effects.some((effect) => effect.type === 'raiseVersions')
    }
    this.#dispatching = false
    this.#watchWhileRunning()
    const snapshot = snapshotOf(this.#state, this.#snapshot)
    changed ||= snapshot !== this.#snapshot
    this.#snapshot = snapshot
    if (changed) this.#options.onChange()
  }

  #perform(effect: SyncEffect): void {
    switch (effect.type) {
      case 'load':
        return this.#launch(effect.run, this.#options.timeoutMs, async () => await this.#load(effect.run))
      case 'request':
        return this.#launch(effect.run, this.#options.timeoutMs, async (signal) => await this.#request(effect.run, effect.since, signal))
      case 'deliver':
        return this.#launch(effect.run, null, async (signal) => await this.#deliver(effect.run, effect.delivery, signal))
      case 'wait': {
        const { intervalMs, environment } = this.#options
        return this.#launch(effect.run, pauseMs(effect.pause, intervalMs, () => environment.random()), null)
      }
      case 'cancel':
        return this.#cancel()
      case 'save':
        return this.#keeper.save(this.#entry, effect.cursor)
      case 'raiseVersions':
        return this.#options.onVersions(effect.touched)
      case 'report':
        return this.#options.onError(effect.error)
    }
  }

  /** Ends what runs, then starts a timer, or work, or work with a time limit; both report under `run`. */
  #launch(run: number, timerMs: number | null, work: ((signal: AbortSignal) => Promise<SyncEvent>) | null): void {
    this.#cancel()
    if (timerMs !== null) {
      this.#cancelTimer = this.#options.environment.setTimer(() => this.#dispatch({ type: 'timer', run }), timerMs)
    }
    if (work === null) return
    const abort = new AbortController()
    this.#abort = abort
    void work(abort.signal).then((event) => {
      // What ended by itself is not aborted afterwards: a listener may have passed its signal on.
      if (this.#abort === abort) this.#abort = null
      this.#dispatch(event)
    })
  }

  #cancel(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#abort?.abort()
    this.#abort = null
  }

  async #load(run: number): Promise<SyncEvent> {
    try {
      return { type: 'loaded', run, cursor: await this.#keeper.load(this.#entry) }
    } catch (error) {
      return { type: 'loadFailed', run, error: error as SyncClientError }
    }
  }

  async #request(run: number, since: string, signal: AbortSignal): Promise<SyncEvent> {
    try {
      const answer = readAnswer(await this.#options.request(since, signal), since)
      return answer === null ? { type: 'requestFailed', run, failure: protocolFailure() } : { type: 'answered', run, answer }
    } catch (thrown) {
      return { type: 'requestFailed', run, failure: failureOf(thrown) }
    }
  }

  async #deliver(run: number, delivery: Delivery, signal: AbortSignal): Promise<SyncEvent> {
    // An aborted delivery may still be ending: its listeners must not meet the next one.
    const before = this.#deliveries
    const own = before.then(async () => signal.aborted || (await this.#options.deliver(delivery, signal)))
    this.#deliveries = own.then(ignore, ignore)
    try {
      await own
      return { type: 'delivered', run }
    } catch (cause) {
      const error = new SyncClientError('listener', 'a listener threw; its page will come again', { cause })
      return { type: 'deliveryFailed', run, error }
    }
  }

  #activity(): Activity {
    const { environment } = this.#options
    if (!environment.isOnline()) return 'offline'
    return environment.isVisible() ? 'active' : 'hidden'
  }

  /** Listens to the environment only while there is a loop, so that a stopped client holds nothing alive. */
  #watchWhileRunning(): void {
    const running = this.#state.phase.kind !== 'idle' && this.#state.phase.kind !== 'failed'
    if (running === (this.#unwatch !== null)) return
    this.#unwatch?.()
    this.#unwatch = running
      ? this.#options.environment.onActivity(() => this.#dispatch({ type: 'activity', activity: this.#activity() }))
      : null
  }
}

function ignore(): void {}
