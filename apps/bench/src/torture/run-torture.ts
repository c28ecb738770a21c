import { sql } from 'kysely'
import { brokenReader, type Flaw } from './broken-readers.ts'
import { type ChainRecord, type ChainWorld, runChain } from './chain.ts'
import { chainSpecs, tablesOf } from './chains.ts'
import { replicaFaults } from './end-state.ts'
import { judge, judgeCapture, type Verdict } from './judge.ts'
import { existingRows, expectedEntries, readLog } from './log-truth.ts'
import { runRacers } from './racers.ts'
import { Random } from './random.ts'
import { productionReader } from './readers.ts'
import { type ChainReport, summarise, type TortureReport } from './report.ts'
import { installSchema, openSide, type Side } from './schema.ts'
import { Witness, writeOrder } from './witness.ts'
import { newWriterStats, type WriterStats, type WriterWorld } from './writer-context.ts'
import { runLongWriter, runWriter, seedRows } from './writers.ts'

export interface TortureOptions {
  /** An empty database of the run's own, on a primary. */
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
const WRITERS = 9
const BULKY_WRITERS = 2
/** Writers whose transactions are open for more than two seconds each, one after the other, so that several always overlap. */
const LONG_WRITERS = 3
/** Pairs of transactions that commit in the opposite order of their entries. */
const RACING_PAIRS = 2
/** Rows that bulk statements may write, for each second: readers must be able to keep up on a small machine. */
const BULK_ROWS_PER_SECOND = 4000
/** How long chains may take to come to their end after the last writer. */
const CATCH_UP_MS = 90_000

/**
 * Tortures the feed: writers that do everything a writer may do, chains of readers that read while it happens, and a comparison of what each chain was
 * given with what was committed. The judgement uses the log and the tables as they are at the end, read by SQL of its own, and what the
 * writers noted while they held their locks.
 */
export async function runTorture(options: TortureOptions): Promise<TortureReport> {
  const { url, seconds, seed, flaw, log = (): void => {} } = options
  const ms = seconds * 1000
  const writersSide = openSide(url, {
    max: WRITERS + LONG_WRITERS + 2 * RACING_PAIRS + 1,
    session: '-c datestyle=German,DMY -c extra_float_digits=0 -c intervalstyle=postgres_verbose',
  })
  const sides: readonly [Side, Side] = [
    openSide(url, { max: 12 }),
    openSide(url, { max: 12, camelCase: true, session: '-c datestyle=SQL,MDY -c timezone=Asia/Kathmandu' }),
  ]
  try {
    await installSchema(writersSide)
    const witness = new Witness()
    const stats = newWriterStats()
    const begin = performance.now()
    let [writersDone, giveUpAt, bulkRows] = [false, Number.POSITIVE_INFINITY, 0]
    const writers: WriterWorld = {
      side: writersSide,
      witness,
      stats,
      stopping: () => performance.now() - begin > ms,
      canPrepare: await canPrepare(writersSide),
      mayBulk: () => bulkRows < (BULK_ROWS_PER_SECOND * (performance.now() - begin)) / 1000,
      wroteBulk: (rows) => void (bulkRows += rows),
    }
    const chains: ChainWorld = {
      read: flaw === undefined ? productionReader : brokenReader(flaw),
      sides,
      writersDone: () => writersDone,
      expired: () => performance.now() > giveUpAt,
      adverse: flaw === undefined,
    }
    let stream = 0
    const random = (): Random => new Random(seed, (stream += 1))
    const seeding = random()
    const writing = [
      ...Array.from({ length: WRITERS }, (_, i) => ({
        of: random(),
        run: (r: Random) => runWriter(writers, r, i < BULKY_WRITERS),
      })),
      ...Array.from({ length: LONG_WRITERS }, (_, i) => ({
        of: random(),
        run: (r: Random) => runLongWriter(writers, r, i * 750),
      })),
      ...Array.from({ length: RACING_PAIRS }, (_, i) => ({
        of: random(),
        run: (r: Random) => runRacers(writers, r, i),
      })),
    ]
    const reading = chainSpecs.map((spec) => runChain(chains, spec, random(), spec.begins * ms))
    const ended = Promise.all(reading)
    ended.catch(() => {})
    await seedRows(writers, seeding)
    await Promise.all(writing.map(({ of, run }) => run(of)))
    writersDone = true
    const writersMs = performance.now() - begin
    giveUpAt = performance.now() + CATCH_UP_MS
    log(
      `writers ended after ${(writersMs / 1000).toFixed(1)} s: ${stats.committed} transactions committed, ${stats.rolledBack} rolled back`,
    )
    const records = await ended
    log(`chains ended ${((performance.now() - begin - writersMs) / 1000).toFixed(1)} s later`)
    return await judgeAll(writersSide, witness, stats, records, {
      seed,
      flaw,
      writersMs,
      writers: WRITERS + LONG_WRITERS + RACING_PAIRS,
    })
  } finally {
    await Promise.all([writersSide, ...sides].map(({ db }) => db.destroy()))
  }
}

async function judgeAll(
  side: Side,
  witness: Witness,
  stats: WriterStats,
  records: readonly ChainRecord[],
  run: { readonly seed: number; readonly flaw: Flaw | undefined; readonly writersMs: number; readonly writers: number },
): Promise<TortureReport> {
  const { db } = side
  const entries = await readLog(db)
  const { orderOf, contradictions } = writeOrder(witness.committed)
  const chains: ChainReport[] = []
  for (const record of records) {
    const { spec, base, baseRows, deliveries } = record
    const tables = tablesOf(spec)
    const verdict: Verdict = judge(deliveries, entries, await expectedEntries(db, spec.audience, tables, base), orderOf)
    const faults = replicaFaults(deliveries, entries, baseRows, await existingRows(db, spec.audience, tables))
    chains.push({ record, verdict, replicaFaults: faults })
  }
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db)
  return summarise({
    ...run,
    server: rows[0]?.version ?? '',
    entries,
    stats,
    chains,
    contradictions,
    capture: judgeCapture(entries, orderOf),
  })
}

async function canPrepare({ db }: Side): Promise<boolean> {
  const { rows } = await sql<{ may: number }>`select current_setting('max_prepared_transactions')::int as may`.execute(
    db,
  )
  return (rows[0]?.may ?? 0) >= 16
}
