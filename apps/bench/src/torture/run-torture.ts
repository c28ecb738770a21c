import { sql } from 'kysely'
import { brokenReader, type Flaw } from './broken-readers.ts'
import { type ChainWorld, runChain } from './chain.ts'
import { chainSpecs } from './chains.ts'
import { judgeRun } from './judge-run.ts'
import { newWriterStats } from './kinds.ts'
import { runLandlord } from './landlord.ts'
import { Partitions } from './partitions.ts'
import { runRacers } from './racers.ts'
import { Random } from './random.ts'
import { productionReader } from './readers.ts'
import type { TortureReport } from './report.ts'
import { dropOwner, installSchema, openSide, ownerRole, type Side } from './schema.ts'
import { seedRows } from './seed-rows.ts'
import { runStacker } from './stacker.ts'
import { Witness } from './witness.ts'
import type { WriterWorld } from './writer-context.ts'
import { runLongWriter, runOwner, runThoroughWriter, runWriter } from './writers.ts'

export interface TortureOptions {
  /** An empty database of the run's own, on a primary, as a superuser. */
  readonly url: string
  /** How long writers write, at least 4. The run takes a few seconds more. */
  readonly seconds: number
  /** Seed of all choices. The interleaving is the machine's. */
  readonly seed: number
  /** A reader with a known flaw instead of the library's. */
  readonly flaw?: Flaw
  /** Told how the run goes. */
  readonly log?: (line: string) => void
}

/** Writers of short transactions; the first two also write in bulk. */
const WRITERS = 7
const BULKY_WRITERS = 2
/** Writers whose transactions are open for more than two seconds each, one after the other, so that several always overlap. */
const LONG_WRITERS = 3
/** Pairs of transactions that commit in the opposite order of their entries. */
const RACING_PAIRS = 2
/** Writers in a plain role. */
const OWNERS = 2
/** Rows that bulk statements may write, for each second: readers must be able to keep up on a small machine. */
const BULK_ROWS_PER_SECOND = 2500
/** How long chains may take to come to their end after the last writer. */
const CATCH_UP_MS = 90_000

const writerSessions = [
  '-c datestyle=German,DMY -c extra_float_digits=0 -c intervalstyle=postgres_verbose',
  '-c datestyle=SQL,MDY -c timezone=America/St_Johns -c bytea_output=escape -c search_path=app,public -c plan_cache_mode=force_generic_plan',
] as const

/**
 * Tortures the feed: writers that do everything a writer may do, chains of readers that read while it happens, and a comparison of what each chain was
 * given with what was committed. The judgement uses the log and the tables as they are at the end, read by SQL of its own, and what the
 * writers noted while they held their locks.
 */
export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const { url, seconds, seed, flaw, log = (): void => {} } = options
  const ms = seconds * 1000
  const owner = ownerRole(url)
  const [mainSide, otherSide] = writerSessions.map((session) => openSide(url, { max: 20, session })) as [Side, Side]
  const ownerSide = openSide(url, { max: OWNERS + 1, session: `-c role=${owner}` })
  const readingSides: readonly [Side, Side] = [
    openSide(url, { max: 12 }),
    openSide(url, { max: 12, camelCase: true, session: '-c datestyle=SQL,MDY -c timezone=Asia/Kathmandu' }),
  ]
  try {
    const witness = new Witness()
    witness.sawMigrate(await installSchema(mainSide, owner))
    const stats = newWriterStats()
    const begin = performance.now()
    let [writersDone, giveUpAt, bulkRows] = [false, Number.POSITIVE_INFINITY, 0]
    const world: WriterWorld = {
      ...(await capabilities(mainSide)),
      side: mainSide,
      witness,
      stats,
      stopping: () => performance.now() - begin > ms,
      mayBulk: () => bulkRows < (BULK_ROWS_PER_SECOND * (performance.now() - begin)) / 1000,
      wroteBulk: (rows) => void (bulkRows += rows),
      partitions: new Partitions(),
    }
    const otherWorld: WriterWorld = { ...world, side: otherSide }
    const ownerWorld: WriterWorld = { ...world, side: ownerSide }
    const chains: ChainWorld = {
      read: flaw === undefined ? productionReader : brokenReader(flaw),
      sides: readingSides,
      writersDone: () => writersDone,
      expired: () => performance.now() > giveUpAt,
      adverse: flaw === undefined,
    }
    let stream = 0
    const random = (): Random => new Random(seed, (stream += 1))
    const seeding = random()
    const times = (count: number, run: (random: Random, i: number) => Promise<void>): (() => Promise<void>)[] =>
      Array.from({ length: count }, (_, i) => {
        const own = random()
        return () => run(own, i)
      })
    const writing = [
      ...times(WRITERS, (own, i) => runWriter(i % 2 === 0 ? world : otherWorld, own, i < BULKY_WRITERS)),
      ...times(LONG_WRITERS, (own, i) => runLongWriter(i % 2 === 0 ? otherWorld : world, own, i * 750)),
      ...times(RACING_PAIRS, (own, i) => runRacers(world, own, i)),
      ...times(OWNERS, (own) => runOwner(ownerWorld, own)),
      ...times(1, (own) => runThoroughWriter(otherWorld, own)),
      ...times(1, (own) => runStacker(world, own)),
      ...times(1, (own) => runLandlord(world, own)),
    ]
    const reading = chainSpecs.map((spec) => runChain(chains, spec, random(), spec.begins * ms))
    const ended = Promise.all(reading)
    ended.catch(() => {})
    await seedRows(world, seeding)
    await Promise.all(writing.map((run) => run()))
    writersDone = true
    const writersMs = performance.now() - begin
    giveUpAt = performance.now() + CATCH_UP_MS
    log(
      `writers ended after ${(writersMs / 1000).toFixed(1)} s: ${stats.committed} transactions committed, ${stats.rolledBack} rolled back`,
    )
    const records = await ended
    log(`chains ended ${((performance.now() - begin - writersMs) / 1000).toFixed(1)} s later`)
    return await judgeRun(mainSide, { witness, stats, records, seed, flaw, writersMs, writers: writing.length })
  } finally {
    await Promise.all([otherSide, ownerSide, ...readingSides].map(({ db }) => db.destroy()))
    await dropOwner(mainSide, owner)
    await mainSide.db.destroy()
  }
}

async function capabilities({ db }: Side): Promise<{ readonly canPrepare: boolean; readonly major: number }> {
  const { rows } = await sql<{ prepared: number; version: number }>`
    select current_setting('max_prepared_transactions')::int as prepared, current_setting('server_version_num')::int as version`.execute(
    db,
  )
  const [row] = rows
  return { canPrepare: (row?.prepared ?? 0) >= 16, major: Math.trunc((row?.version ?? 0) / 10_000) }
}
