import { describe, expect, it } from 'vitest'
import type { Delivery } from '../src/answer.ts'
import { SyncClientError } from '../src/errors.ts'
import { timeoutFailure } from '../src/failure.ts'
import { initialState, type Phase, type SyncEvent, type SyncState } from '../src/sync-model.ts'
import { transition } from '../src/sync-state.ts'

const RUN = 7
const error = new SyncClientError('unavailable', 'the server answered 503')
const lastPage: Delivery = { reason: null, changes: [], cursor: 'c2', hasMore: false, upToDate: true }
const morePage: Delivery = { ...lastPage, hasMore: true, upToDate: false }
const resync: Delivery = { reason: 'epoch', changes: [], cursor: 'head', hasMore: true, upToDate: false }

const phases = {
  idle: { kind: 'idle' },
  loading: { kind: 'loading' },
  requesting: { kind: 'requesting', again: false },
  delivering: { kind: 'delivering', delivery: lastPage, again: false },
  deliveringMore: { kind: 'delivering', delivery: morePage, again: false },
  interval: { kind: 'waiting', why: 'interval', pending: null },
  retry: { kind: 'waiting', why: 'retry', pending: null },
  byServer: { kind: 'waiting', why: 'byServer', pending: null },
  resyncDue: { kind: 'waiting', why: 'byServer', pending: resync },
  hidden: { kind: 'waiting', why: 'inactive', pending: null },
  hiddenByServer: { kind: 'waiting', why: 'byServer', pending: resync },
  hiddenResyncDue: { kind: 'waiting', why: 'inactive', pending: resync },
  failed: { kind: 'failed' },
} satisfies Record<string, Phase>
type PhaseName = keyof typeof phases

/** What comes from outside, at any moment. */
const happenings = {
  start: { type: 'start', activity: 'active' },
  'start hidden': { type: 'start', activity: 'hidden' },
  stop: { type: 'stop' },
  forget: { type: 'forget' },
  poll: { type: 'poll' },
  'go active': { type: 'activity', activity: 'active' },
  hide: { type: 'activity', activity: 'hidden' },
  'go offline': { type: 'activity', activity: 'offline' },
  stored: { type: 'stored', error: null },
  'stored badly': { type: 'stored', error },
} satisfies Record<string, SyncEvent>
type Happening = keyof typeof happenings

/** What an effect reports. In a phase that did not launch it, it comes too late. */
const reports = {
  loaded: { type: 'loaded', run: RUN, cursor: 'c1', error: null },
  'loaded badly': { type: 'loaded', run: RUN, cursor: null, error },
  'answered page': { type: 'answered', run: RUN, answer: { delivery: lastPage, floorMs: 0 } },
  'answered held': { type: 'answered', run: RUN, answer: { delivery: null, floorMs: 500 } },
  'answered resync': { type: 'answered', run: RUN, answer: { delivery: resync, floorMs: 0 } },
  'answered resync later': { type: 'answered', run: RUN, answer: { delivery: resync, floorMs: 500 } },
  'requestFailed backoff': { type: 'requestFailed', run: RUN, failure: timeoutFailure() },
  'requestFailed floor': { type: 'requestFailed', run: RUN, failure: { error, next: 'backoff', floorMs: 500 } },
  'requestFailed stop': { type: 'requestFailed', run: RUN, failure: { error, next: 'stop', floorMs: 0 } },
  delivered: { type: 'delivered', run: RUN },
  deliveryFailed: { type: 'deliveryFailed', run: RUN, error },
  timer: { type: 'timer', run: RUN },
} satisfies Record<string, SyncEvent & { run: number }>
type Report = keyof typeof reports

/** The phase each one leads to (`=`: the same), then the effects in order. A missing cell does not compile. */
const outcomesOfHappenings: Record<Happening, Record<PhaseName, string>> = {
  start: {
    idle: 'requesting, request c1',
    loading: '=',
    requesting: '=',
    delivering: '=',
    deliveringMore: '=',
    interval: '=',
    retry: '=',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: 'requesting, request c1',
  },
  'start hidden': {
    idle: 'waiting inactive, cancel',
    loading: '=',
    requesting: '=',
    delivering: '=',
    deliveringMore: '=',
    interval: '=',
    retry: '=',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: 'waiting inactive, cancel',
  },
  stop: {
    idle: '=',
    loading: 'idle, cancel',
    requesting: 'idle, cancel',
    delivering: 'idle, cancel',
    deliveringMore: 'idle, cancel',
    interval: 'idle, cancel',
    retry: 'idle, cancel',
    byServer: 'idle, cancel',
    resyncDue: 'idle, cancel',
    hidden: 'idle, cancel',
    hiddenByServer: 'idle, cancel',
    hiddenResyncDue: 'idle, cancel',
    failed: 'idle, cancel',
  },
  forget: {
    idle: '=, raiseVersions',
    loading: 'loading, raiseVersions, load',
    requesting: 'loading, raiseVersions, load',
    delivering: 'loading, raiseVersions, load',
    deliveringMore: 'loading, raiseVersions, load',
    interval: 'loading, raiseVersions, load',
    retry: 'loading, raiseVersions, load',
    byServer: 'loading, raiseVersions, load',
    resyncDue: 'loading, raiseVersions, load',
    hidden: 'loading, raiseVersions, load',
    hiddenByServer: 'loading, raiseVersions, load',
    hiddenResyncDue: 'loading, raiseVersions, load',
    failed: 'loading, raiseVersions, load',
  },
  poll: {
    idle: '=',
    loading: '=',
    requesting: 'requesting+again',
    delivering: 'delivering c2+again',
    deliveringMore: 'delivering c2+again',
    interval: 'requesting, request c1',
    retry: '=',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: '=',
  },
  'go active': {
    idle: '=',
    loading: '=',
    requesting: '=',
    delivering: '=',
    deliveringMore: '=',
    interval: '=',
    retry: '=',
    byServer: '=',
    resyncDue: '=',
    hidden: 'requesting, request c1',
    hiddenByServer: '=',
    hiddenResyncDue: 'delivering head, deliver',
    failed: '=',
  },
  hide: {
    idle: '=',
    loading: '=',
    requesting: '=',
    delivering: '=',
    deliveringMore: '=',
    interval: 'waiting inactive, cancel',
    retry: 'waiting inactive, cancel',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: '=',
  },
  'go offline': {
    idle: '=',
    loading: '=',
    requesting: 'waiting inactive, cancel',
    delivering: '=',
    deliveringMore: '=',
    interval: 'waiting inactive, cancel',
    retry: 'waiting inactive, cancel',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: '=',
  },
  stored: {
    idle: '=',
    loading: '=',
    requesting: '=',
    delivering: '=',
    deliveringMore: '=',
    interval: '=',
    retry: '=',
    byServer: '=',
    resyncDue: '=',
    hidden: '=',
    hiddenByServer: '=',
    hiddenResyncDue: '=',
    failed: '=',
  },
  'stored badly': {
    idle: '=, report',
    loading: '=, report',
    requesting: '=, report',
    delivering: '=, report',
    deliveringMore: '=, report',
    interval: '=, report',
    retry: '=, report',
    byServer: '=, report',
    resyncDue: '=, report',
    hidden: '=, report',
    hiddenByServer: '=, report',
    hiddenResyncDue: '=, report',
    failed: '=, report',
  },
}

/** The same for reports, in the phases that can report it. In all other phases it must change nothing. */
const outcomesOfReports: Record<Report, Partial<Record<PhaseName, string>>> = {
  loaded: { loading: 'requesting, request c1' },
  'loaded badly': { loading: 'requesting, request now, report' },
  'answered page': { requesting: 'delivering c2, deliver' },
  'answered held': { requesting: 'waiting byServer, wait' },
  'answered resync': { requesting: 'delivering head, deliver' },
  'answered resync later': { requesting: 'waiting byServer with resync, wait' },
  'requestFailed backoff': { requesting: 'waiting retry, wait, report' },
  'requestFailed floor': { requesting: 'waiting byServer, wait, report' },
  'requestFailed stop': { requesting: 'failed, cancel, report' },
  delivered: { delivering: 'waiting interval, save, wait', deliveringMore: 'requesting, save, request c2' },
  deliveryFailed: { delivering: 'waiting retry, wait, report', deliveringMore: 'waiting retry, wait, report' },
  timer: {
    loading: 'requesting, request now, report',
    requesting: 'waiting retry, wait, report',
    interval: 'requesting, request c1',
    retry: 'requesting, request c1',
    byServer: 'requesting, request c1',
    resyncDue: 'delivering head, deliver',
    hiddenByServer: 'waiting inactive with resync, cancel',
  },
}

function stateIn(name: PhaseName): SyncState {
  const activity = name.startsWith('hidden') ? 'hidden' : 'active'
  return { ...initialState('now'), phase: phases[name], run: RUN, cursor: 'c1', activity, progress: 'upToDate' }
}

function describePhase(phase: Phase): string {
  switch (phase.kind) {
    case 'requesting':
      return phase.again ? 'requesting+again' : 'requesting'
    case 'delivering':
      return `delivering ${phase.delivery.cursor}${phase.again ? '+again' : ''}`
    case 'waiting':
      return `waiting ${phase.why}${phase.pending === null ? '' : ' with resync'}`
    default:
      return phase.kind
  }
}

function outcome(state: SyncState, event: SyncEvent): string {
  const step = transition(state, event)
  const effects = step.effects.map((effect) => (effect.type === 'request' ? `request ${effect.since}` : effect.type))
  const phase = step.state.phase === state.phase ? '=' : describePhase(step.state.phase)
  return [phase, ...effects].join(', ')
}

const phaseNames = Object.keys(phases) as PhaseName[]

describe('every event in every phase', () => {
  for (const [name, outcomes] of Object.entries(outcomesOfHappenings)) {
    it(name, () => {
      const event = happenings[name as Happening]
      expect(Object.fromEntries(phaseNames.map((phase) => [phase, outcome(stateIn(phase), event)]))).toStrictEqual(
        outcomes,
      )
    })
  }
  for (const [name, outcomes] of Object.entries(outcomesOfReports)) {
    it(name, () => {
      const event = reports[name as Report]
      for (const phase of phaseNames) {
        const expected = outcomes[phase]
        const state = stateIn(phase)
        if (expected !== undefined) expect([phase, outcome(state, event)]).toStrictEqual([phase, expected])
        expect(transition(state, { ...event, run: RUN - 1 })).toStrictEqual({ state, effects: [] })
      }
    })
  }
})

describe('invariants, over 2,000 random walks of 30 events', () => {
  it('holds them', () => {
    const random = mulberry(20_301)
    const all = [...Object.values<SyncEvent>(happenings), ...Object.values<SyncEvent>(reports)]
    for (let walk = 0; walk < 2_000; walk += 1) {
      let state = initialState('now')
      const delivered: string[] = []
      for (let step = 0; step < 30; step += 1) {
        const drawn = all[Math.floor(random() * all.length)] as SyncEvent
        const event = 'run' in drawn ? { ...drawn, run: state.run } : drawn
        if (!canReport(state.phase, event.type)) continue
        const before = state
        const { state: after, effects } = transition(state, event)
        state = after
        const launched = effects.filter((effect) => 'run' in effect)
        expect(launched.length).toBeLessThanOrEqual(1)
        for (const effect of launched) expect(effect.run).toBe(after.run)
        if (launched.length > 0 || effects.some((effect) => effect.type === 'cancel'))
          expect(after.run).toBe(before.run + 1)
        // No request and no delivery while the page may not poll, and none without an effect behind the phase.
        if (launched.some((effect) => effect.type === 'request')) expect(after.activity).toBe('active')
        if (after.phase.kind === 'waiting' && after.phase.why !== 'byServer') {
          expect(after.phase.why === 'inactive').toBe(after.activity !== 'active')
        }
        // The cursor moves by a delivery that ended, a load or a forget, and by nothing else.
        if (after.cursor !== before.cursor) expect(['delivered', 'loaded', 'forget']).toContain(event.type)
        for (const effect of effects) if (effect.type === 'save') delivered.push(effect.cursor)
        if (after.phase.kind === 'failed') expect(after.error).not.toBeNull()
        // What was touched is raised as soon as no page follows.
        if (after.phase.kind !== 'requesting' && after.phase.kind !== 'delivering')
          expect(after.touched).toStrictEqual(new Set())
      }
      expect(delivered.every((cursor) => cursor === 'c2' || cursor === 'head')).toBe(true)
    }
  })
})

function canReport(phase: Phase, type: SyncEvent['type']): boolean {
  switch (type) {
    case 'loaded':
      return phase.kind === 'loading'
    case 'answered':
    case 'requestFailed':
      return phase.kind === 'requesting'
    case 'delivered':
    case 'deliveryFailed':
      return phase.kind === 'delivering'
    case 'timer':
      return (
        phase.kind === 'loading' ||
        phase.kind === 'requesting' ||
        (phase.kind === 'waiting' && phase.why !== 'inactive')
      )
    default:
      return true
  }
}

/** Mulberry32: the same walks on every run. */
function mulberry(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
