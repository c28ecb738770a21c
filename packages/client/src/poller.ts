import { readAnswer, type Delivery } from './answer.ts'
import type { SyncEnvironment } from './environment.ts'
import { SyncClientError } from './errors.ts'
import { failureOf, protocolFailure } from './failure.ts'
import { pauseMs } from './pause.ts'
import { CursorKeeper } from './store/cursor-keeper.ts'
import type { CursorStore } from './store/cursor-store.ts'
import {
  initialState,
  isRunning,
  type Activity,
  type SyncEffect,
  type SyncEvent,
  type SyncState,
  type Touched,
} from './sync-model.ts'
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
  readonly onVersions: (touched: Touched) => void
  readonly onError: (error: SyncClientError) => void
  /** Called after each event that changed the snapshot or the versions. */
  readonly onChange: () => void
}

/** Longer than the turn of the event loop in which a batching link collects calls. */
const BATCH_TURN_MS = 20

/** What an effect reports when it has ended, before it is stamped with its run. */
type Report = Stampless<Extract<SyncEvent, { readonly run: number }>>
type Stampless<E> = E extends unknown ? Omit<E, 'run'> : never

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
  #turn: Promise<void> = Promise.resolve()

  constructor(options: PollerOptions) {
    this.#options = options
    this.#entry = options.entry
    this.#state = initialState(options.since)
    this.#keeper = new CursorKeeper(options.store, (error) => this.#dispatch({ type: 'stored', error }))
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

  /** Goes on with another entry of the store; the same one changes nothing. */
  switchTo(entry: string): void {
    if (entry === this.#entry) return
    this.#entry = entry
    this.#forget()
  }

  /** Goes on without the cursor, here and in the store. */
  async forget(): Promise<void> {
    const deleted = this.#keeper.delete(this.#entry)
    this.#forget()
    await deleted
  }

  #forget(): void {
    // A batching link sends a call that was aborted along with later ones of the same turn, by then with the next
    // identity's token. Nothing of the former may leave so: the turn has to pass first.
    this.#turn = new Promise((resolve) => void this.#options.environment.setTimer(resolve, BATCH_TURN_MS))
    this.#dispatch({ type: 'forget' })
  }

  /** Events that come while one is handled (a callback that calls `stop()`) wait for their turn. */
  #dispatch(event: SyncEvent): void {
    this.#events.push(event)
    if (this.#dispatching) return
    this.#dispatching = true
    let changed = false
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        const { state, effects } = transition(this.#state, next)
        const snapshot = snapshotOf(state, this.#snapshot)
        changed ||= snapshot !== this.#snapshot || effects.some((effect) => effect.type === 'raiseVersions')
        this.#state = state
        this.#snapshot = snapshot
        for (const effect of effects) this.#perform(effect)
      }
    } finally {
      this.#dispatching = false
    }
    this.#watchWhileRunning()
    if (changed) this.#options.onChange()
  }

  #perform(effect: SyncEffect): void {
    const { environment, intervalMs, timeoutMs } = this.#options
    switch (effect.type) {
      case 'load':
        return this.#launch(effect.run, timeoutMs, () => this.#load())
      case 'request':
        return this.#launch(effect.run, timeoutMs, (signal) => this.#request(effect.since, signal))
      case 'deliver':
        return this.#launch(effect.run, null, (signal) => this.#deliver(effect.delivery, signal))
      case 'wait':
        return this.#launch(
          effect.run,
          pauseMs(effect.pause, intervalMs, () => environment.random()),
          null,
        )
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
  #launch(run: number, timerMs: number | null, work: ((signal: AbortSignal) => Promise<Report>) | null): void {
    this.#cancel()
    if (timerMs !== null) {
      this.#cancelTimer = this.#options.environment.setTimer(() => this.#dispatch({ type: 'timer', run }), timerMs)
    }
    if (work === null) return
    const abort = new AbortController()
    this.#abort = abort
    void work(abort.signal).then((report) => {
      // What ended by itself is not aborted afterwards: a listener may have passed its signal on.
      if (this.#abort === abort) this.#abort = null
      this.#dispatch({ ...report, run })
    })
  }

  #cancel(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.#abort?.abort()
    this.#abort = null
  }

  async #load(): Promise<Report> {
    try {
      await this.#turn
      return { type: 'loaded', cursor: await this.#keeper.load(this.#entry), error: null }
    } catch (error) {
      return { type: 'loaded', cursor: null, error: error as SyncClientError }
    }
  }

  async #request(since: string, signal: AbortSignal): Promise<Report> {
    try {
      const answer = readAnswer(await this.#options.request(since, signal), since)
      return answer === null ? { type: 'requestFailed', failure: protocolFailure() } : { type: 'answered', answer }
    } catch (thrown) {
      return { type: 'requestFailed', failure: failureOf(thrown) }
    }
  }

  async #deliver(delivery: Delivery, signal: AbortSignal): Promise<Report> {
    // An aborted delivery may still be ending: its listeners must not meet the next one.
    const own = this.#deliveries.then(async () => signal.aborted || (await this.#options.deliver(delivery, signal)))
    this.#deliveries = own.then(ignore, ignore)
    try {
      await own
      return { type: 'delivered' }
    } catch (cause) {
      return {
        type: 'deliveryFailed',
        error: new SyncClientError('listener', 'a listener threw; its page comes again', { cause }),
      }
    }
  }

  #activity(): Activity {
    const { environment } = this.#options
    if (!environment.isOnline()) return 'offline'
    return environment.isVisible() ? 'active' : 'hidden'
  }

  /** Listens to the environment only while there is a loop, so that a stopped client holds nothing alive. */
  #watchWhileRunning(): void {
    const running = isRunning(this.#state)
    if (running === (this.#unwatch !== null)) return
    this.#unwatch?.()
    this.#unwatch = running
      ? this.#options.environment.onActivity(() => this.#dispatch({ type: 'activity', activity: this.#activity() }))
      : null
  }
}

function ignore(): void {}
