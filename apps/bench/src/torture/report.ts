import type { Flaw } from './broken-readers.ts'
import type { ChainRecord } from './chain.ts'
import type { CaptureVerdict, Verdict } from './judge.ts'
import type { LoggedEntry } from './log-truth.ts'
import type { WriterStats } from './writer-context.ts'

/** One chain, judged. */
export interface ChainReport {
  readonly record: ChainRecord
  readonly verdict: Verdict
  readonly replicaFaults: readonly string[]
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
  /** Rows written without an entry; keys captured without a write. */
  readonly uncaptured: number
  readonly unexplained: number
  /** Rows in which a replica folded from a chain differs from the tables. */
  readonly replicaFaults: number
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
  changes: 500,
  chains: 8,
  writers: 8,
  late: 1,
  ordered: 100,
  cutEntries: 1,
  rolledBack: 1,
  savepointsRolledBack: 1,
  moves: 1,
  keyChanges: 1,
  bulkStatements: 1,
} as const
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
    replicaFaults: total((chain) => chain.replicaFaults.length),
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
    'replicaFaults',
    'cutFaults',
  ] as const
  const few = Object.entries(LEAST).filter(([name, least]) => (report[name as keyof typeof LEAST] ?? 0) < least)
  return [
    ...faults.filter((name) => report[name] > 0).map((name) => `${name}: ${report[name]}`),
    ...chains.flatMap(({ record }) =>
      record.trouble === null ? [] : [`chain "${record.spec.name}" ${record.trouble}`],
    ),
    ...chains.flatMap(({ record, replicaFaults: [first] }) =>
      first === undefined ? [] : [`replica of chain "${record.spec.name}": ${first}`],
    ),
    ...contradictions.slice(0, 5).map((text) => `the writers' notes contradict the rows: ${text}`),
    ...capture.uncaptured.slice(0, 3).map((row) => `written, but not in the log: ${row}`),
    ...capture.unexplained.slice(0, 3).map((row) => `in the log, but not written: ${row}`),
    ...few.map(([name, least]) => `too little happened: ${name} below ${least}`),
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
