import type { Answer, Delivery } from './answer.ts'
import { SyncClientError } from './errors.ts'
import { timeoutFailure, type Failure } from './failure.ts'
import type { Pause } from './pause.ts'
import {
  isRunning,
  NOTHING,
  type Activity,
  type Phase,
  type Step,
  type SyncEffect,
  type SyncEvent,
  type SyncState,
  type Touched,
} from './sync-model.ts'

/** While pages follow one another, versions are raised once at the end, but at the latest after so many pages. */
const PAGES_PER_RAISE = 20
/** So many resyncs in a row are shown as an error. */
const RESYNCS_SHOWN = 5

/**
 * The whole behaviour of the loop, without input or output: `poller.ts` feeds in the events and carries out the
 * effects.
 */
export function transition(state: SyncState, event: SyncEvent): Step {
  if ('run' in event && event.run !== state.run) return still(state)
  return raiseWhenQuiet(react(state, event))
}

function react(state: SyncState, event: SyncEvent): Step {
  switch (event.type) {
    case 'start':
      return start(state, event.activity)
    case 'stop':
      return state.phase.kind === 'idle' ? still(state) : rest({ ...state, ...CLEAN }, { kind: 'idle' })
    case 'forget':
      return forget(state)
    case 'loaded':
      return loaded(state, event.cursor, event.error)
    case 'answered':
      return answered(state, event.answer)
    case 'requestFailed':
      return requestFailed(state, event.failure)
    case 'delivered':
      return state.phase.kind === 'delivering'
        ? delivered(state, state.phase.delivery, state.phase.again)
        : still(state)
    case 'deliveryFailed':
      return requestFailed(state, { error: event.error, next: 'backoff', floorMs: 0 })
    case 'timer':
      return timer(state)
    case 'activity':
      return activityChanged({ ...state, activity: event.activity })
    case 'poll':
      return poll(state)
    case 'stored':
      return reporting(event.error, still({ ...state, storeError: event.error }))
  }
}

const CLEAN = { failures: 0, resyncs: 0, progress: 'none', error: null } as const

function start(state: SyncState, activity: Activity): Step {
  if (isRunning(state)) return still(state)
  const fresh = { ...state, ...CLEAN, activity }
  return fresh.cursor === null ? load(fresh) : goOn(fresh)
}

function forget(state: SyncState): Step {
  // A cursor given as `since` belongs to the past that is dropped, too.
  const since = state.since === 'start' ? 'start' : 'now'
  const blank: SyncState = { ...state, ...CLEAN, since, cursor: null, touched: 'all' }
  return state.phase.kind === 'idle' ? still(blank) : load(blank)
}

function loaded(state: SyncState, cursor: string | null, error: SyncClientError | null): Step {
  return reporting(error, goOn({ ...state, cursor, storeError: error }))
}

function answered(state: SyncState, { delivery, floorMs }: Answer): Step {
  if (delivery === null) {
    return wait({ ...state, failures: 0, error: null, progress: 'behind' }, { kind: 'backoff', attempt: 1, floorMs })
  }
  if (!demandsResync(delivery)) return deliver(state, delivery)
  const told = { ...state, progress: 'behind' } as const
  const inARow = state.resyncs + 1
  if (inARow === 1 && floorMs === 0) return deliver(told, delivery)
  // Everyone may have been told at once, so the pause comes before the listeners read anew, not after.
  const pause = { kind: 'growing', attempt: inARow, floorMs } as const
  if (inARow < RESYNCS_SHOWN) return wait(told, pause, delivery)
  const message = `${inARow} resyncs in a row (${delivery.reason}): do all servers share one feed?`
  const error = new SyncClientError('resyncLoop', message)
  return reporting(error, wait({ ...told, error }, pause, delivery))
}

function requestFailed(state: SyncState, { error, next, floorMs }: Failure): Step {
  const failed = { ...state, failures: state.failures + 1, error }
  return reporting(
    error,
    next === 'stop'
      ? rest(failed, { kind: 'failed' })
      : wait(failed, { kind: next, attempt: failed.failures, floorMs }),
  )
}

function delivered(state: SyncState, delivery: Delivery, again: boolean): Step {
  const { cursor, hasMore, upToDate } = delivery
  const caughtUp = upToDate && !hasMore
  const resyncs = state.resyncs + (demandsResync(delivery) ? 1 : 0)
  const moved: SyncState = {
    ...state,
    cursor,
    failures: 0,
    resyncs: caughtUp ? 0 : resyncs,
    progress: caughtUp ? 'upToDate' : 'behind',
    error: !caughtUp && resyncs >= RESYNCS_SHOWN ? state.error : null,
  }
  const step = hasMore || again ? goOn(moved) : wait(moved, { kind: 'interval' })
  return cursor === state.cursor ? step : { ...step, effects: [{ type: 'save', cursor }, ...step.effects] }
}

function timer(state: SyncState): Step {
  const { phase } = state
  switch (phase.kind) {
    case 'loading':
      return loaded(state, null, new SyncClientError('store', 'the cursor could not be read in time'))
    case 'requesting':
      return requestFailed(state, timeoutFailure())
    case 'waiting':
      return goOn(state, phase.pending)
    default:
      return still(state)
  }
}

function activityChanged(state: SyncState): Step {
  const { phase, activity } = state
  // A request that lost its network may hang; it is asked anew on return. In a tab that is merely hidden it may end.
  if (phase.kind === 'requesting' && activity === 'offline') return goOn(state)
  if (phase.kind !== 'waiting') return still(state)
  // What was up to date before may no longer be.
  const waiting: SyncState = { ...state, progress: 'none' }
  if (phase.why === 'byServer' || (phase.why === 'inactive' && activity !== 'active')) return still(waiting)
  return phase.why !== 'inactive' && activity === 'active' ? still(state) : goOn(waiting, phase.pending)
}

function poll(state: SyncState): Step {
  const { phase } = state
  if (phase.kind === 'waiting' && phase.why === 'interval') return goOn(state)
  if (phase.kind === 'requesting' || phase.kind === 'delivering')
    return still({ ...state, phase: { ...phase, again: true } })
  return still(state)
}

function load(state: SyncState): Step {
  return enter(state, { kind: 'loading' }, (run) => ({ type: 'load', run }))
}

/** The next step now, or as soon as the page is active again. */
function goOn(state: SyncState, pending: Delivery | null = null): Step {
  if (state.activity !== 'active') return rest(state, { kind: 'waiting', why: 'inactive', pending })
  if (pending !== null) return deliver(state, pending)
  return enter(state, { kind: 'requesting', again: false }, (run) => ({
    type: 'request',
    run,
    since: state.cursor ?? state.since,
  }))
}

function deliver(state: SyncState, delivery: Delivery): Step {
  const again = state.phase.kind === 'requesting' && state.phase.again
  const touching = {
    ...state,
    touched: touch(state.touched, delivery),
    unraised: isEmpty(state.touched) ? 1 : state.unraised + 1,
  }
  return enter(touching, { kind: 'delivering', delivery, again }, (run) => ({ type: 'deliver', run, delivery }))
}

function wait(state: SyncState, pause: Pause, pending: Delivery | null = null): Step {
  const why = pause.kind === 'interval' ? 'interval' : pause.floorMs > 0 ? 'byServer' : 'retry'
  if (why !== 'byServer' && state.activity !== 'active') return goOn(state, pending)
  return enter(state, { kind: 'waiting', why, pending }, (run) => ({ type: 'wait', run, pause }))
}

/** Ends whatever runs. */
function rest(state: SyncState, phase: Phase): Step {
  return enter(state, phase, () => ({ type: 'cancel' }))
}

/** A phase begins with one effect, and whatever ran before it can no longer report. */
function enter(state: SyncState, phase: Phase, effect: (run: number) => SyncEffect): Step {
  const run = state.run + 1
  return { state: { ...state, run, phase }, effects: [effect(run)] }
}

function still(state: SyncState): Step {
  return { state, effects: [] }
}

function reporting(error: SyncClientError | null, { state, effects }: Step): Step {
  return { state, effects: error === null ? effects : [...effects, { type: 'report', error }] }
}

/** By the server; `start` is the client's own. */
function demandsResync({ reason }: Delivery): boolean {
  return reason !== null && reason !== 'start'
}

function isEmpty(touched: Touched): boolean {
  return touched !== 'all' && touched.size === 0
}

function touch(touched: Touched, { reason, changes }: Delivery): Touched {
  if (touched === 'all' || reason !== null) return 'all'
  return new Set([...touched, ...changes.map((change) => change.table)])
}

/** Raises the versions once a run of pages ends, however it ends. */
function raiseWhenQuiet(step: Step): Step {
  const { touched, phase, unraised } = step.state
  const inARun = (phase.kind === 'requesting' || phase.kind === 'delivering') && unraised < PAGES_PER_RAISE
  if (inARun || isEmpty(touched)) return step
  return { state: { ...step.state, touched: NOTHING }, effects: [{ type: 'raiseVersions', touched }, ...step.effects] }
}
