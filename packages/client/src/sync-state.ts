import type { Answer, Delivery } from './answer.ts'
import { SyncClientError } from './errors.ts'
import { timeoutFailure, type Failure } from './failure.ts'
import type { Pause } from './pause.ts'
import { NOTHING, type Activity, type Phase, type Step, type SyncEffect, type SyncEvent, type SyncState, type Touched } from './sync-model.ts'

/** While pages follow one another, versions are raised once at the end, but at the latest after so many pages. */
const PAGES_PER_RAISE = 20
/** So many resyncs in a row are shown as an error. */
const RESYNCS_SHOWN = 5

/** The whole behaviour of the loop, without input or output: `poller.ts` feeds in the events and carries out the effects. */
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
      return request({ ...state, cursor: event.cursor })
    case 'loadFailed':
      return loadFailed(state, event.error)
    case 'answered':
      return answered(state, event.answer)
    case 'requestFailed':
      return requestFailed(state, event.failure)
    case 'delivered':
      return state.phase.kind === 'delivering' ? delivered(state, state.phase.delivery, state.phase.again) : still(state)
    case 'deliveryFailed':
      return requestFailed(state, { error: event.error, next: 'backoff', floorMs: 0 })
    case 'timer':
      return timer(state)
    case 'activity':
      return activityChanged({ ...state, activity: event.activity })
    case 'poll':
      return poll(state)
    case 'stored':
      return still({ ...state, storeError: null })
    case 'storeFailed':
      return storeFailed(state, event.error)
  }
}

const CLEAN = { failures: 0, resyncs: 0, progress: 'none', error: null } as const

function start(state: SyncState, activity: Activity): Step {
  if (state.phase.kind !== 'idle' && state.phase.kind !== 'failed') return still(state)
  const fresh = { ...state, ...CLEAN, activity }
  return fresh.cursor === null ? load(fresh) : request(fresh)
}

function forget(state: SyncState): Step {
  const blank: SyncState = { ...state, ...CLEAN, cursor: null, touched: 'all' }
  return state.phase.kind === 'idle' ? still(blank) : load(blank)
}

function loadFailed(state: SyncState, error: SyncClientError): Step {
  const step = request({ ...state, storeError: error })
  return { ...step, effects: [{ type: 'report', error }, ...step.effects] }
}

function answered(state: SyncState, answer: Answer): Step {
  if (answer.kind === 'held') {
    return wait({ ...state, failures: 0, error: null, progress: 'behind' }, { kind: 'backoff', attempt: 0, floorMs: answer.floorMs })
  }
  const { delivery, floorMs } = answer
  if (delivery.reason === null || delivery.reason === 'start') return deliver(state, delivery)
  const told = { ...state, progress: 'behind' } as const
  const inARow = state.resyncs + 1
  if (inARow === 1 && floorMs === 0) return deliver(told, delivery)
  // Everyone may have been told at once, so the pause comes before the listeners read anew, not after.
  const pause = { kind: 'growing', attempt: inARow, floorMs } as const
  if (inARow < RESYNCS_SHOWN) return wait(told, pause, delivery)
  const message = `the server demanded a resync ${inARow} times in a row (${delivery.reason}): its instances may not share one feed`
  const error = new SyncClientError('resyncLoop', message)
  const step = wait({ ...told, error }, pause, delivery)
  return { ...step, effects: [...step.effects, { type: 'report', error }] }
}

function requestFailed(state: SyncState, { error, next, floorMs }: Failure): Step {
  const failed = { ...state, failures: state.failures + 1, error }
  const step =
    next === 'stop' ? rest(failed, { kind: 'failed' }) : wait(failed, { kind: next, attempt: failed.failures, floorMs })
  return { ...step, effects: [...step.effects, { type: 'report', error }] }
}

function delivered(state: SyncState, delivery: Delivery, again: boolean): Step {
  const { reason, cursor, hasMore, upToDate } = delivery
  const caughtUp = upToDate && !hasMore
  const resyncs = state.resyncs + (reason === null || reason === 'start' ? 0 : 1)
  const moved: SyncState = {
    ...state,
    cursor,
    failures: 0,
    resyncs: caughtUp ? 0 : resyncs,
    progress: caughtUp ? 'upToDate' : 'behind',
    error: !caughtUp && resyncs >= RESYNCS_SHOWN ? state.error : null,
  }
  const step = hasMore || again ? request(moved) : wait(moved, { kind: 'interval' })
  return cursor === state.cursor ? step : { ...step, effects: [{ type: 'save', cursor }, ...step.effects] }
}

function timer(state: SyncState): Step {
  const { phase } = state
  switch (phase.kind) {
    case 'loading':
      return loadFailed(state, new SyncClientError('store', 'reading the stored cursor did not end in time'))
    case 'requesting':
      return requestFailed(state, timeoutFailure('the request'))
    case 'waiting':
      return phase.pending === null ? request(state) : deliver(state, phase.pending)
    case 'paused':
      return still({ ...state, phase: { ...phase, byServer: false } })
    default:
      return still(state)
  }
}

function activityChanged(state: SyncState): Step {
  const { phase, activity } = state
  // A request that lost its network may hang; it is asked anew on return. In a tab that is merely hidden it may end.
  if (phase.kind === 'requesting' && activity === 'offline') return request(state)
  if (phase.kind === 'waiting' && activity !== 'active') {
    const paused: Phase = { kind: 'paused', byServer: phase.why === 'byServer', pending: phase.pending }
    return paused.byServer ? still({ ...state, progress: 'none', phase: paused }) : rest({ ...state, progress: 'none' }, paused)
  }
  if (phase.kind === 'paused' && activity === 'active') {
    if (phase.byServer) return still({ ...state, phase: { kind: 'waiting', why: 'byServer', pending: phase.pending } })
    return phase.pending === null ? request(state) : deliver(state, phase.pending)
  }
  return still(state)
}

function poll(state: SyncState): Step {
  const { phase } = state
  if (phase.kind === 'waiting' && phase.why === 'interval') return request(state)
  if (phase.kind === 'requesting' || phase.kind === 'delivering') return still({ ...state, phase: { ...phase, again: true } })
  return still(state)
}

function storeFailed(state: SyncState, error: SyncClientError): Step {
  return { state: { ...state, storeError: error }, effects: [{ type: 'report', error }] }
}

function load(state: SyncState): Step {
  const run = state.run + 1
  return { state: { ...state, run, phase: { kind: 'loading' } }, effects: [{ type: 'load', run }] }
}

function request(state: SyncState): Step {
  if (state.activity !== 'active') return rest({ ...state, progress: 'none' }, { kind: 'paused', byServer: false, pending: null })
  const run = state.run + 1
  return {
    state: { ...state, run, phase: { kind: 'requesting', again: false } },
    effects: [{ type: 'request', run, since: state.cursor ?? state.since }],
  }
}

function deliver(state: SyncState, delivery: Delivery): Step {
  const run = state.run + 1
  const again = state.phase.kind === 'requesting' && state.phase.again
  return {
    state: {
      ...state,
      run,
      phase: { kind: 'delivering', delivery, again },
      touched: touch(state.touched, delivery),
      unraised: state.unraised + 1,
    },
    effects: [{ type: 'deliver', run, delivery }],
  }
}

function wait(state: SyncState, pause: Pause, pending: Delivery | null = null): Step {
  const run = state.run + 1
  const byServer = pause.kind !== 'interval' && pause.floorMs > 0
  const effects: SyncEffect[] = [{ type: 'wait', run, pause }]
  if (state.activity === 'active') {
    const why = byServer ? 'byServer' : pause.kind === 'interval' ? 'interval' : 'retry'
    return { state: { ...state, run, phase: { kind: 'waiting', why, pending } }, effects }
  }
  const paused: Phase = { kind: 'paused', byServer, pending }
  return byServer ? { state: { ...state, run, progress: 'none', phase: paused }, effects } : rest({ ...state, progress: 'none' }, paused)
}

/** Ends whatever runs. */
function rest(state: SyncState, phase: Phase): Step {
  return { state: { ...state, run: state.run + 1, phase }, effects: [{ type: 'cancel' }] }
}

function still(state: SyncState): Step {
  return { state, effects: [] }
}

function touch(touched: Touched, { reason, changes }: Delivery): Touched {
  if (touched === 'all' || reason !== null) return 'all'
  return new Set([...touched, ...changes.map((change) => change.table)])
}

/** Raises the versions once a run of pages ends, however it ends. */
function raiseWhenQuiet({ state, effects }: Step): Step {
  const { touched, phase } = state
  if (touched !== 'all' && touched.size === 0) return { state: state.unraised === 0 ? state : { ...state, unraised: 0 }, effects }
  const inARun = (phase.kind === 'requesting' || phase.kind === 'delivering') && state.unraised < PAGES_PER_RAISE
  if (inARun) return { state, effects }
  return { state: { ...state, touched: NOTHING, unraised: 0 }, effects: [{ type: 'raiseVersions', touched }, ...effects] }
}
