import type { Flaw } from './broken-readers.ts'
import type { ChainRecord } from './chain.ts'
import type { Verdict } from './judge.ts'
import type { CaptureVerdict } from './judge-capture.ts'
import { LEAST_OF_EACH, type WriterStats } from './kinds.ts'
import type { LoggedEntry } from './log-truth.ts'

/** One chain, judged. */
export interface ChainReport {
  readonly record: ChainRecord
  readonly verdict: Verdict
  /** Rows in which a replica folded from its changes differs from the tables. */
  readonly replicaFaults: readonly string[]
  /** Rows in which what its reader read differs from the tables, and how many there are; `null` if it read none. */
  readonly replicaDiffers: readonly string[] | null
  readonly replicaRows: number
}

/** What a run found, in the order in which it is printed. */
export interface TortureReport extends WriterStats {
  /** Changes in the log at the end: one for each key, and one for each table-level entry. */
  readonly changes: number
  /** Changes given to all chains together. */
  readonly deliveries: number
  readonly missed: number
  readonly repeated: number
  /** Deliveries of one row's change after a later transaction's change of that row. */
  readonly outOfOrder: number
  /** Deliveries of other audiences', other tables' or older changes; of changes that differ from the log. */
  readonly foreign: number
  readonly wrong: number
  /** Rows written without an entry; keys captured without a write; rows whose last entry in a transaction says another end. */
  readonly uncaptured: number
  readonly unexplained: number
  readonly misleading: number
  /** Rows of all replicas; in how many one folded from keys and operations, and one that read what was announced, differ from the tables. */
  readonly replicas: number
  readonly replicaRows: number
  readonly replicaFaults: number
  readonly replicaDiffers: number
  /** Pages that were up to date and not a cut, and how many were checked. */
  readonly cutFaults: number
  readonly cutChecks: number
  readonly chains: number
  readonly chainsComplete: number
  readonly pages: number
  readonly held: number
  readonly staleReads: number
  /** Deliveries behind one with a larger id: transactions that committed late. */
  readonly late: number
  /** Deliveries of a row of which another transaction's change was delivered before: those that could have been out of order. */
  readonly ordered: number
  /** Pages that ended inside an entry. */
  readonly cutEntries: number
  readonly longestCursor: number
  readonly largestEntry: number
  readonly writers: number
  readonly writerSeconds: number
  readonly server: string
  readonly seed: number
  readonly reader: string
  /** Everything that makes the run fail; empty when all is well. */
  readonly violations: readonly string[]
}

interface Findings {
  readonly entries: ReadonlyMap<number, LoggedEntry>
  readonly stats: WriterStats
  readonly chains: readonly ChainReport[]
  readonly contradictions: readonly string[]
  readonly capture: CaptureVerdict
  readonly server: string
  readonly seed: number
  readonly flaw: Flaw | undefined
  readonly writersMs: number
  readonly writers: number
}

/** A run that did less than this has proved nothing. */
const LEAST = {
  chainsComplete: 8,
  writers: 8,
  late: 1,
  ordered: 100,
  cutEntries: 1,
  rolledBack: 1,
  savepointsRolledBack: 1,
  replicaRows: 1000,
  ...LEAST_OF_EACH,
} as const
/** Changes for each second of writing. */
const LEAST_CHANGES = 334
const LEAST_OPEN_MS = 2000

export function summarise(findings: Findings): TortureReport {
  const { entries, stats, chains, capture } = findings
  const total = (of: (chain: ChainReport) => number): number => chains.reduce((all, chain) => all + of(chain), 0)
  const verdict = (name: keyof Verdict): number => total((chain) => chain.verdict[name])
  const sizes = [...entries.values()].map(({ keys }) => keys?.length ?? 1)
  const report = {
    changes: sizes.reduce((all, size) => all + size, 0),
    deliveries: verdict('deliveries'),
    missed: verdict('missed'),
    repeated: verdict('repeated'),
    outOfOrder: verdict('outOfOrder'),
    foreign: verdict('foreign'),
    wrong: verdict('wrong'),
    uncaptured: capture.uncaptured.length,
    unexplained: capture.unexplained.length,
    misleading: capture.misleading.length,
    replicas: total(({ replicaDiffers }) => (replicaDiffers === null ? 1 : 2)),
    replicaRows: total((chain) => chain.replicaRows),
    replicaFaults: total((chain) => chain.replicaFaults.length),
    replicaDiffers: total(({ replicaDiffers }) => replicaDiffers?.length ?? 0),
    cutFaults: total(({ record }) => record.cutFaults),
    cutChecks: total(({ record }) => record.cutChecks),
    chains: chains.length,
    chainsComplete: total(({ record }) => (record.complete ? 1 : 0)),
    pages: total(({ record }) => record.pages),
    held: total(({ record }) => record.held),
    staleReads: total(({ record }) => record.staleReads),
    late: verdict('late'),
    ordered: verdict('ordered'),
    cutEntries: total((chain) => cutEntries(chain, entries)),
    longestCursor: chains.reduce((longest, { record }) => Math.max(longest, record.longestCursor), 0),
    largestEntry: sizes.reduce((largest, size) => Math.max(largest, size), 0),
    ...stats,
    longestOpenMs: Math.round(stats.longestOpenMs),
    writers: findings.writers,
    writerSeconds: Number((findings.writersMs / 1000).toFixed(1)),
    server: findings.server,
    seed: findings.seed,
    reader: findings.flaw ?? 'readChanges',
  }
  return { ...report, violations: violations(report, findings) }
}

function violations(
  report: Omit<TortureReport, 'violations'>,
  { chains, contradictions, capture }: Findings,
): string[] {
  const faults = [
    'missed',
    'repeated',
    'outOfOrder',
    'foreign',
    'wrong',
    'uncaptured',
    'unexplained',
    'misleading',
    'replicaFaults',
    'replicaDiffers',
    'cutFaults',
  ] as const
  const least = { ...LEAST, changes: Math.round(LEAST_CHANGES * report.writerSeconds) }
  const few = Object.entries(least).filter(([name, count]) => report[name as keyof typeof least] < count)
  return [
    ...faults.filter((name) => report[name] > 0).map((name) => `${name}: ${report[name]}`),
    ...chains.flatMap(({ record }) =>
      record.trouble === null ? [] : [`chain "${record.spec.name}" ${record.trouble}`],
    ),
    ...chains.flatMap(({ record, replicaFaults: [first] }) =>
      first === undefined ? [] : [`replica of chain "${record.spec.name}": ${first}`],
    ),
    ...chains.flatMap(({ record, replicaDiffers }) =>
      (replicaDiffers ?? []).slice(0, 1).map((row) => `reader of chain "${record.spec.name}" holds ${row}`),
    ),
    ...contradictions.slice(0, 5).map((text) => `the writers' notes contradict the rows: ${text}`),
    ...capture.uncaptured.slice(0, 3).map((row) => `written, but not in the log: ${row}`),
    ...capture.unexplained.slice(0, 3).map((row) => `in the log, but not written: ${row}`),
    ...capture.misleading.slice(0, 3).map((row) => `the last entry says otherwise: ${row}`),
    ...few.map(([name, count]) => `too little happened: ${name} below ${count}`),
    ...(report.longestOpenMs < LEAST_OPEN_MS ? ['too little happened: no transaction was open for two seconds'] : []),
  ]
}

/** Pages whose last change is not the last of its entry. */
function cutEntries({ record }: ChainReport, entries: ReadonlyMap<number, LoggedEntry>): number {
  return record.pageEnds.filter((end) => {
    const last = record.deliveries[end - 1]
    if (last === undefined) return false
    return last.position.ordinal + 1 < (entries.get(Number(last.position.entry))?.keys?.length ?? 1)
  }).length
}
