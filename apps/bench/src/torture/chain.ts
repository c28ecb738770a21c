import { setTimeout as delay } from 'node:timers/promises'
import type { Change, ChangesHeld, ChangesPage, ReadResult } from '@tidemark/core'
import { sql, type Transaction } from 'kysely'
import { type ChainSpec, tablesOf } from './chains.ts'
import type { Reread } from './end-state.ts'
import { existingRows, type RowSet } from './existing-rows.ts'
import { countVisible } from './log-truth.ts'
import type { Random } from './random.ts'
import type { PageReader } from './readers.ts'
import { ReadingReplica } from './reading-replica.ts'
import type { Side } from './schema.ts'
import type { TortureDatabase, TortureTable } from './tables.ts'

/** What a chain did. */
export interface ChainRecord {
  readonly spec: ChainSpec
  /** In order of delivery. */
  readonly deliveries: Change<TortureTable>[]
  /** Snapshot that a chain from now began in; `null` from the start. */
  base: string | null
  /** Rows that were there when a chain from now began. */
  baseRows: RowSet
  /** Tables read anew after table-level entries, in order. */
  readonly rereads: Reread[]
  /** What its reader has read of the rows that were announced; `null` for chains that keep none. */
  readonly replica: ReadingReplica | null
  pages: number
  /** Number of deliveries after each page. */
  readonly pageEnds: number[]
  held: number
  /** Pages read in a transaction whose snapshot was older than the cursor's. */
  staleReads: number
  /** Up-to-date pages whose deliveries were counted against their own snapshot, and how many differed. */
  cutChecks: number
  cutFaults: number
  longestCursor: number
  /** Where it stands. */
  cursor: string
  /** Whether it reached the end after the last writer. */
  complete: boolean
  /** Why it did not. */
  trouble: string | null
}

export interface ChainWorld {
  readonly read: PageReader
  /** The processes that may answer: each page goes to one at random. */
  readonly sides: readonly [Side, Side]
  /** Whether all writers have ended. */
  readonly writersDone: () => boolean
  /** Whether the run gives up on chains that have not come to their end. */
  readonly expired: () => boolean
  /** Off for broken readers, which need not be right about more than their flaw. */
  readonly adverse: boolean
}

/** Follows the feed by one chain of cursors until everything the writers committed must have come. */
export async function runChain(
  world: ChainWorld,
  spec: ChainSpec,
  random: Random,
  startAfterMs: number,
): Promise<ChainRecord> {
  const record: ChainRecord = {
    spec,
    deliveries: [],
    base: null,
    baseRows: new Map(),
    rereads: [],
    replica: spec.reads === true ? new ReadingReplica(spec.audience, tablesOf(spec)) : null,
    pages: 0,
    pageEnds: [],
    held: 0,
    staleReads: 0,
    cutChecks: 0,
    cutFaults: 0,
    longestCursor: 0,
    cursor: 'start',
    complete: false,
    trouble: null,
  }
  await delay(startAfterMs)
  if (spec.from === 'now') await beginNow(world, random, record)
  while (record.trouble === null) {
    // Asked before the read: what was committed until here must be in an exhausted page that follows.
    const last = world.writersDone()
    if (world.expired()) {
      record.trouble = 'did not come to its end in time'
      break
    }
    const answer = await readSomehow(world, random, record, last)
    if ('resync' in answer) {
      record.trouble = `was told to resync: ${answer.resync.reason}`
    } else if ('held' in answer) {
      hold(record, answer)
      await delay(random.int(1, 20))
    } else {
      accept(world, record, answer)
      await readRows(world, random, record, answer)
      if (!answer.hasMore && last) {
        record.complete = record.trouble === null
        break
      }
      if (!last && (!answer.hasMore || spec.slow === true)) await delay(random.int(1, spec.pauseMs))
    }
  }
  return record
}

function accept(
  world: ChainWorld,
  record: ChainRecord,
  { changes, cursor, hasMore, upToDate }: ChangesPage<TortureTable>,
): void {
  record.pages += 1
  // Not push(...changes): broken readers give pages of any length.
  for (const change of changes) record.deliveries.push(change)
  record.pageEnds.push(record.deliveries.length)
  record.cursor = cursor
  record.longestCursor = Math.max(record.longestCursor, cursor.length)
  if (!world.adverse) return
  if (changes.length > record.spec.limit) record.trouble = `got ${changes.length} changes on a page`
  if (upToDate === hasMore) record.trouble = 'got a page that is up to date and has more, or neither'
}

/** What a reader reads once it has a page: the tables of table-level entries, and, if it keeps rows, the rows that were announced. */
async function readRows(
  world: ChainWorld,
  random: Random,
  record: ChainRecord,
  { changes, hasMore }: ChangesPage<TortureTable>,
): Promise<void> {
  const { spec, replica, rereads, deliveries } = record
  const { db } = random.pick(world.sides)
  const tables = new Set(changes.filter(({ key }) => key === null).map(({ table }) => table))
  if (tables.size > 0)
    rereads.push({ after: deliveries.length, rows: await existingRows(db, spec.audience, [...tables]) })
  replica?.take(changes)
  if (replica !== null && (!hasMore || replica.full)) await replica.read(db)
}

function hold(record: ChainRecord, answer: ChangesHeld): void {
  record.held += 1
  if (answer.cursor !== record.cursor) record.trouble = 'was held with another cursor'
}

function ask(
  world: ChainWorld,
  side: Side,
  spec: ChainSpec,
  since: string,
  transaction?: Transaction<TortureDatabase>,
): Promise<ReadResult<TortureTable>> {
  return world.read(side, spec.audience, {
    since,
    limit: spec.limit,
    ...(spec.tables === undefined ? {} : { tables: spec.tables }),
    ...(transaction === undefined ? {} : { transaction }),
  })
}

/** The head cursor, together with what its snapshot sees: the rows a client would load first. */
async function beginNow(world: ChainWorld, random: Random, record: ChainRecord): Promise<void> {
  const { spec } = record
  const side = random.pick(world.sides)
  await repeatableRead(side, async (trx) => {
    const answer = await ask(world, side, spec, 'now', trx)
    if (!('changes' in answer) || answer.changes.length > 0 || answer.hasMore || !answer.upToDate) {
      record.trouble = 'was not given the head'
      return
    }
    const { rows } = await sql<{ snap: string }>`select pg_current_snapshot()::text as snap`.execute(
      trx.withoutPlugins(),
    )
    record.base = rows[0]?.snap ?? null
    record.baseRows = await existingRows(trx, spec.audience, tablesOf(spec))
    record.replica?.load(record.baseRows)
    record.cursor = answer.cursor
  })
}

/** Mostly a plain call, at either side; sometimes in a transaction of the caller's, new or too old. */
async function readSomehow(
  world: ChainWorld,
  random: Random,
  record: ChainRecord,
  last: boolean,
): Promise<ReadResult<TortureTable>> {
  const side = random.pick(world.sides)
  if (!world.adverse || last || !random.chance(0.03)) return await ask(world, side, record.spec, record.cursor)
  return random.chance(0.5) ? await readAndCount(world, side, record) : await readStale(world, side, random, record)
}

/** "Up to date" is a cut: the page's own snapshot sees exactly what was delivered, this page included. */
async function readAndCount(world: ChainWorld, side: Side, record: ChainRecord): Promise<ReadResult<TortureTable>> {
  const { spec } = record
  return await repeatableRead(side, async (trx) => {
    const answer = await ask(world, side, spec, record.cursor, trx)
    if ('changes' in answer && answer.upToDate) {
      record.cutChecks += 1
      const visible = await countVisible(trx, spec.audience, tablesOf(spec), record.base)
      if (visible !== record.deliveries.length + answer.changes.length) record.cutFaults += 1
    }
    return answer
  })
}

/** Takes a snapshot, follows the chain elsewhere for a few pages, and then reads in the old snapshot: it may only hold, or be right. */
async function readStale(
  world: ChainWorld,
  side: Side,
  random: Random,
  record: ChainRecord,
): Promise<ReadResult<TortureTable>> {
  const { spec } = record
  return await repeatableRead(side, async (trx) => {
    await sql`select 1`.execute(trx)
    const pages = random.int(1, 3)
    for (let i = 0; i < pages; i++) {
      await delay(random.int(0, 40))
      const answer = await ask(world, random.pick(world.sides), spec, record.cursor)
      if (!('changes' in answer)) return answer
      accept(world, record, answer)
      await readRows(world, random, record, answer)
    }
    record.staleReads += 1
    return await ask(world, side, spec, record.cursor, trx)
  })
}

async function repeatableRead<T>(side: Side, work: (trx: Transaction<TortureDatabase>) => Promise<T>): Promise<T> {
  return await side.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
}
