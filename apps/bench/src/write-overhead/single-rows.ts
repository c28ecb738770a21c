import type pg from 'pg'
import { progress } from '../cli/output.ts'
import { median, round } from '../cli/statistics.ts'
import type { Load } from './load.ts'
import type { SliceResult, Workload } from './messages.ts'
import { type BenchTable, tableNames, tidy } from './tables.ts'
import { rowOf } from '../cli/bench-table.ts'

export interface SingleRowOptions {
  readonly workload: Workload
  readonly rows: number
  readonly pairs: number
  /** Measured time for each table and pair. */
  readonly ms: number
  /** Whether each pair also measures the second uncaptured table. */
  readonly control: boolean
  /** Told how many rows of the captured table were written. */
  readonly wrote: (rows: number) => void
}

/** What the alternating slices of one workload gave. */
export interface SingleRowReport {
  /** Median over the pairs of captured ÷ uncaptured transactions a second. */
  readonly ratio: number
  /** The ratio of each pair. */
  readonly ratios: readonly number[]
  /** The same between two uncaptured tables: its distance from 1 is noise. */
  readonly controlRatio: number | null
  readonly controlRatios: readonly number[]
  /** Median transactions a second. */
  readonly tps: { readonly plain: number; readonly tracked: number }
  /** Median server CPU of one transaction in microseconds: hardly touched by what else the machine does. */
  readonly serverCpuUs: { readonly plain: number; readonly tracked: number } | null
  /** Share of the machine's cores that the load generator used, largest of all slices. */
  readonly clientCpuShare: number
  /** Share of updates that were HOT; `null` for other workloads. */
  readonly hotShare: { readonly plain: number; readonly tracked: number } | null
}

/** Every order in turn, so that no table always comes first. */
const orders: readonly (readonly BenchTable[])[] = [
  ['plain', 'tracked', 'control'],
  ['control', 'tracked', 'plain'],
  ['tracked', 'plain', 'control'],
  ['control', 'plain', 'tracked'],
]

/** Tables take turns this short, so that what else the machine does in the meantime touches all alike. */
const TURN_MS = 400
/** Unmeasured load at the start of a turn, and at the first one after a checkpoint. */
const TURN_WARMUP_MS = 50
const FIRST_WARMUP_MS = 300
/** Far above the rows that stay: inserted and deleted ids, other ones for each pair. */
const SPARE_IDS = 10_000_000
const SPARE_IDS_PER_PAIR = 10_000_000
/** Rows laid out to be deleted, for each second. */
const DELETES_PER_SECOND = 30_000

/** Runs the pairs of one workload. */
export async function measureSingleRows(
  admin: pg.Client,
  load: Load,
  cores: number,
  options: SingleRowOptions,
): Promise<SingleRowReport> {
  const { workload, pairs, control } = options
  const tables = tableNames.filter((name) => control || name !== 'control')
  const results = new Map<BenchTable, SliceResult[]>(tableNames.map((name) => [name, []]))
  const of = (name: BenchTable): readonly SliceResult[] => results.get(name) ?? []
  const hotBefore = await hotCounts(admin)
  for (let pair = 0; pair < pairs; pair++) {
    for (const [table, result] of await runPair(admin, load, tables, pair, options)) results.get(table)?.push(result)
    const [plain, tracked, other] = tableNames.map((name) => perSecond(of(name).at(-1)))
    progress(
      `${workload} ${pair + 1}/${pairs}: ${round(plain ?? 0, 0)} tx/s plain, ${round(tracked ?? 0, 0)} captured, ratio ${round((tracked ?? 0) / (plain ?? 0))}` +
        (control ? `, control ${round((other ?? 0) / (plain ?? 0))}` : ''),
    )
  }
  const ratios = of('tracked').map((result, i) => round(perSecond(result) / perSecond(of('plain')[i])))
  const controlRatios = of('control').map((result, i) => round(perSecond(result) / perSecond(of('plain')[i])))
  const all = tables.flatMap(of)
  return {
    ratio: round(median(ratios)),
    ratios,
    controlRatio: control ? round(median(controlRatios)) : null,
    controlRatios,
    tps: {
      plain: round(median(of('plain').map(perSecond)), 0),
      tracked: round(median(of('tracked').map(perSecond)), 0),
    },
    serverCpuUs: all.some(({ serverCpuMs }) => serverCpuMs === null)
      ? null
      : { plain: round(median(of('plain').map(cpuUs)), 1), tracked: round(median(of('tracked').map(cpuUs)), 1) },
    clientCpuShare: round(Math.max(...all.map(({ clientCpuMs, elapsedMs }) => clientCpuMs / elapsedMs / cores))),
    hotShare: workload === 'update' || workload === 'hotTenant' ? hotShares(hotBefore, await hotCounts(admin)) : null,
  }
}

async function runPair(
  admin: pg.Client,
  load: Load,
  tables: readonly BenchTable[],
  pair: number,
  { workload, rows, ms, wrote }: SingleRowOptions,
): Promise<ReadonlyMap<BenchTable, SliceResult>> {
  const firstId = SPARE_IDS + pair * SPARE_IDS_PER_PAIR
  const turns = Math.max(1, Math.round(ms / TURN_MS))
  if (workload === 'delete') {
    const spare = Math.ceil(((FIRST_WARMUP_MS + turns * TURN_WARMUP_MS + ms) / 1000) * DELETES_PER_SECOND)
    for (const table of tables)
      await admin.query(
        `insert into ${table} select ${rowOf('g')} from generate_series(${firstId}, ${firstId + spare}) g`,
      )
    wrote(spare + 1)
  }
  await tidy(admin)
  const totals = new Map<BenchTable, SliceResult>()
  const slice = async (table: BenchTable, warmupMs: number, turnMs: number): Promise<SliceResult> => {
    const result = await load.run({ workload, table, rows, firstId, warmupMs, ms: turnMs })
    if (table === 'tracked') wrote(result.allTransactions)
    return result
  }
  for (const table of tables) await slice(table, FIRST_WARMUP_MS, 0)
  for (let turn = 0; turn < turns; turn++) {
    for (const table of orders[(pair + turn) % orders.length] ?? []) {
      if (tables.includes(table))
        totals.set(table, added(totals.get(table), await slice(table, TURN_WARMUP_MS, ms / turns)))
    }
  }
  for (const table of tables) {
    const { rowCount } = await admin.query(`delete from ${table} where id >= ${SPARE_IDS}`)
    if (table === 'tracked') wrote(rowCount ?? 0)
  }
  return totals
}

function added(total: SliceResult | undefined, turn: SliceResult): SliceResult {
  if (total === undefined) return turn
  return {
    transactions: total.transactions + turn.transactions,
    allTransactions: total.allTransactions + turn.allTransactions,
    elapsedMs: total.elapsedMs + turn.elapsedMs,
    clientCpuMs: total.clientCpuMs + turn.clientCpuMs,
    serverCpuMs: total.serverCpuMs === null || turn.serverCpuMs === null ? null : total.serverCpuMs + turn.serverCpuMs,
  }
}

function perSecond(result: SliceResult | undefined): number {
  return result === undefined ? Number.NaN : (result.transactions / result.elapsedMs) * 1000
}

function cpuUs({ serverCpuMs, transactions }: SliceResult): number {
  return ((serverCpuMs ?? Number.NaN) * 1000) / transactions
}

type HotCounts = ReadonlyMap<string, { readonly updates: number; readonly hot: number }>

async function hotCounts(admin: pg.Client): Promise<HotCounts> {
  const { rows } = await admin.query<{ relname: string; updates: string; hot: string }>(
    `select relname, n_tup_upd::text as updates, n_tup_hot_upd::text as hot from pg_stat_user_tables where schemaname = 'public' and relname = any ($1)`,
    [tableNames],
  )
  return new Map(rows.map(({ relname, updates, hot }) => [relname, { updates: Number(updates), hot: Number(hot) }]))
}

function hotShares(before: HotCounts, after: HotCounts): { plain: number; tracked: number } {
  const share = (name: BenchTable): number => {
    const [then, now] = [before.get(name), after.get(name)]
    if (then === undefined || now === undefined) return Number.NaN
    return round((now.hot - then.hot) / (now.updates - then.updates))
  }
  return { plain: share('plain'), tracked: share('tracked') }
}
