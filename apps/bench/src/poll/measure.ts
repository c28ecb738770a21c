import { median, round } from '../cli/statistics.ts'
import { type PlanMode, planModes, type Times } from './explain.ts'
import type { Statement } from './reader.ts'
import type { SizedFeed } from './sized-feed.ts'

/** What the reader's pages hold when they are full. */
const PAGE = 500
/** Reads before the clock counts. */
const WARM_UP = 20

const sizes = ['large', 'small'] as const
type Size = (typeof sizes)[number]
const kinds = ['quiet', 'busy'] as const
type Kind = (typeof kinds)[number]
const polls = kinds.flatMap((kind) => planModes.map((mode) => ({ kind, mode })))

/** Medians of caught-up reads of the large log, and what they are divided by those of the small one. */
export interface PollReport {
  readonly pollMs: number
  readonly growth: number
  readonly planningMs: number
  readonly planningGrowth: number
  readonly buffers: Readonly<Record<Size, number>>
}

/** A full page behind a backlog: pages of the database touched behind the far and the near cursor, and median times. */
export interface BehindReport {
  readonly buffers: { readonly far: number; readonly near: number; readonly ratio: number }
  readonly executionMs: { readonly far: number; readonly near: number }
}

/** Everything that is measured, by plan mode where that matters. */
export interface Measured extends Readonly<Record<Kind, Readonly<Record<PlanMode, PollReport>>>> {
  readonly behind: Readonly<Record<PlanMode, BehindReport>>
  /** Medians of whole calls of `readChanges`. */
  readonly roundTripMs: Readonly<Record<Size, number>>
  /** How the log was scanned by any of the statements over the large one. */
  readonly scans: readonly string[]
}

/** Reads `reads` times of each kind. Kinds and sizes take turns, so that what else the machine does touches all alike. */
export async function measure(feeds: Readonly<Record<Size, SizedFeed>>, reads: number): Promise<Measured> {
  const times = new Samples<Times>()
  const roundTrips = new Samples<number>()
  const statements = new Map<string, Statement>()
  for (const size of sizes)
    for (const kind of kinds)
      statements.set(`${kind} ${size}`, (await feeds[size].reader.page(feeds[size].cursors[kind], 0)).statement)
  const statement = (kind: Kind, size: Size): Statement => required(statements.get(`${kind} ${size}`))

  for (let i = -WARM_UP; i < reads; i++) {
    for (const size of i % 2 === 0 ? sizes : sizes.toReversed()) {
      const { reader, explainer, cursors } = feeds[size]
      for (let turn = 0; turn < polls.length; turn++) {
        const { kind, mode } = required(polls[(i + WARM_UP + turn) % polls.length])
        const took = await explainer.times(statement(kind, size), mode)
        if (i >= 0) times.add(`${kind} ${mode} ${size}`, took)
      }
      const start = performance.now()
      await reader.page(cursors.quiet, 0)
      if (i >= 0) roundTrips.add(size, performance.now() - start)
    }
  }

  const scans = new Set<string>()
  const buffers = async (kind: Kind, mode: PlanMode, size: Size): Promise<number> => {
    const pages = await feeds[size].explainer.pages(statement(kind, size), mode)
    if (size === 'large') for (const scan of pages.scans) scans.add(scan)
    return pages.buffers
  }
  const report = async (kind: Kind, mode: PlanMode): Promise<PollReport> => {
    const of = (size: Size, time: keyof Times): number =>
      median(times.of(`${kind} ${mode} ${size}`).map((took) => took[time]))
    return {
      pollMs: round(of('large', 'executionMs')),
      growth: round(of('large', 'executionMs') / of('small', 'executionMs')),
      planningMs: round(of('large', 'planningMs')),
      planningGrowth: round(of('large', 'planningMs') / of('small', 'planningMs')),
      buffers: { large: await buffers(kind, mode, 'large'), small: await buffers(kind, mode, 'small') },
    }
  }
  return {
    quiet: { custom: await report('quiet', 'custom'), generic: await report('quiet', 'generic') },
    busy: { custom: await report('busy', 'custom'), generic: await report('busy', 'generic') },
    behind: {
      custom: await behind(feeds.large, 'custom', reads, scans),
      generic: await behind(feeds.large, 'generic', reads, scans),
    },
    roundTripMs: { large: round(median(roundTrips.of('large'))), small: round(median(roundTrips.of('small'))) },
    scans: [...scans].toSorted(),
  }
}

async function behind(feed: SizedFeed, mode: PlanMode, reads: number, scans: Set<string>): Promise<BehindReport> {
  const { reader, explainer, cursors } = feed
  const { statement: far } = await reader.page(cursors.far, PAGE)
  const { statement: near } = await reader.page(cursors.near, PAGE)
  const times = new Samples<number>()
  // A page costs ten times a poll, and its time need be known less exactly.
  for (let i = 0; i < Math.max(5, reads / 10); i++) {
    times.add('far', (await explainer.times(far, mode)).executionMs)
    times.add('near', (await explainer.times(near, mode)).executionMs)
  }
  const pages = { far: await explainer.pages(far, mode), near: await explainer.pages(near, mode) }
  for (const scan of [...pages.far.scans, ...pages.near.scans]) scans.add(scan)
  const buffers = { far: pages.far.buffers, near: pages.near.buffers }
  return {
    buffers: { ...buffers, ratio: round(buffers.far / buffers.near) },
    executionMs: { far: round(median(times.of('far'))), near: round(median(times.of('near'))) },
  }
}

class Samples<T> {
  readonly #byName = new Map<string, T[]>()

  add(name: string, sample: T): void {
    const taken = this.#byName.get(name)
    if (taken === undefined) this.#byName.set(name, [sample])
    else taken.push(sample)
  }

  of(name: string): readonly T[] {
    return this.#byName.get(name) ?? []
  }
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing was measured')
  return value
}
