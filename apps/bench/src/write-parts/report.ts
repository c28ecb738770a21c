import { median, round } from '../cli/statistics.ts'
import type { Samples } from './rounds.ts'
import { BY_ROW, PRODUCTION, type Variant } from './variants.ts'

/** A difference between two variants: the median over the rounds, and the quartiles beside it. */
export interface Difference {
  readonly us: number
  readonly low: number
  readonly high: number
}

export interface Part extends Difference {
  readonly part: string
  /** Share of what capture adds as a whole. */
  readonly share: number
}

/** Where the CPU of one kind of write goes. */
export interface WorkloadReport {
  /** One transaction without capture, with it, and what the latter is divided by the former. */
  readonly plainUs: number
  readonly capturedUs: number
  readonly ratio: number
  /** What capture adds, and its parts in order. */
  readonly added: Difference
  readonly parts: readonly Part[]
  /** Between two uncaptured tables, and between the production's capture and the chain's end: chance, if all is well. */
  readonly control: Difference
  readonly drift: Difference
  /** Capture by row triggers instead, above the uncaptured table. */
  readonly rowTriggers: Difference
}

/** Differences are taken within a round, where all variants met the same conditions. */
export function reportOf(samples: Samples, variants: readonly Variant[]): WorkloadReport {
  const of = (name: string): readonly number[] => samples.get(name) ?? []
  const between = (from: string, to: string): Difference => {
    const differences = of(to).map((us, i) => us - (of(from)[i] ?? Number.NaN))
    return {
      us: round(median(differences), 1),
      low: round(quantile(differences, 0.25), 1),
      high: round(quantile(differences, 0.75), 1),
    }
  }
  const chain = variants.filter(({ adds }) => adds !== null)
  const end = chain.at(-1)?.name ?? 'plain'
  const added = between('plain', end)
  return {
    plainUs: round(median(of('plain')), 1),
    capturedUs: round(median(of(PRODUCTION)), 1),
    ratio: round(median(of(PRODUCTION).map((us, i) => us / (of('plain')[i] ?? Number.NaN))), 2),
    added,
    parts: chain.map(({ name, adds }, i) => {
      const difference = between(chain[i - 1]?.name ?? 'plain', name)
      return { part: adds ?? '', ...difference, share: round(difference.us / added.us, 2) }
    }),
    control: between('plain', 'control'),
    drift: between(end, PRODUCTION),
    rowTriggers: between('plain', BY_ROW),
  }
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.round((sorted.length - 1) * q)] ?? Number.NaN
}

/** The reports as tables for people. */
export function forPeople(reports: Readonly<Record<string, WorkloadReport | null>>): string {
  return Object.entries(reports)
    .flatMap(([workload, report]) => (report === null ? [] : [table(workload, report)]))
    .join('\n')
}

function table(workload: string, report: WorkloadReport): string {
  const rows: readonly (readonly [string, Difference])[] = [
    ...report.parts.map((part) => [`+ ${part.part}`, part] as const),
    ['= capture, all parts', report.added],
    ['production less all parts (chance)', report.drift],
    ['uncaptured less uncaptured (chance)', report.control],
    ['row triggers instead', report.rowTriggers],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(
    ([name, { us, low, high }]) =>
      `  ${name.padEnd(width)}  ${us.toFixed(1).padStart(9)} µs   (${low.toFixed(1)} to ${high.toFixed(1)})`,
  )
  return `${workload}: ${report.plainUs} µs of CPU uncaptured, ${report.capturedUs} captured, ratio ${report.ratio}\n${lines.join('\n')}\n`
}
