import type pg from 'pg'
import { progress } from '../cli/output.ts'
import { type Backend, ROWS_PER_STATEMENT, type Workload } from './backend.ts'
import { rebuild, tidy } from './tables.ts'
import type { Variant } from './variants.ts'

/** CPU of one transaction in microseconds, one figure for each round, by variant. */
export type Samples = ReadonlyMap<string, readonly number[]>

export interface RoundOptions {
  readonly rows: number
  /** Of single-row transactions; of bulk statements a quarter as many, for they spread less. */
  readonly rounds: number
  /** Single-row transactions for each variant and round. */
  readonly transactions: number
}

/** Transactions before the first round, until plans are made, and before each turn, until the caches are this table's. */
const WARM_UP = 30
const TURN_WARM_UP = 5
/** Rounds after which everything is vacuumed. */
const TIDY_EVERY = 20

/** Runs `rounds` rounds; in each, all variants take their turn, in another order than in the last. */
export async function runRounds(
  admin: pg.Client,
  backend: Backend,
  variants: readonly Variant[],
  workload: Workload,
  options: RoundOptions,
): Promise<Samples> {
  const samples = new Map<string, number[]>(variants.map(({ name }) => [name, []]))
  // A session that has written single rows before: the functions' plans are those of such writes.
  for (const { name } of variants)
    for (let i = 0; i < WARM_UP; i++) await backend.write(workload === 'insert' ? 'insert' : 'update', name, 0)
  const ranges = Math.floor(options.rows / ROWS_PER_STATEMENT)
  const rounds = workload === 'bulkUpdate' ? Math.ceil(options.rounds / 4) : options.rounds
  for (let round = 0; round < rounds; round++) {
    if (workload === 'bulkUpdate' && round % ranges === 0) await rebuild(admin, variants)
    if (workload !== 'bulkUpdate' && round % TIDY_EVERY === 0) await tidy(admin, variants)
    for (const { name } of ordered(variants, round)) {
      if (workload === 'bulkUpdate') {
        const before = backend.cpuUs()
        await backend.write(workload, name, round % ranges)
        samples.get(name)?.push(backend.cpuUs() - before)
      } else {
        await backend.measure(workload, name, TURN_WARM_UP)
        samples.get(name)?.push(await backend.measure(workload, name, options.transactions))
      }
    }
    if ((round + 1) % Math.ceil(rounds / 4) === 0) progress(`${workload}: round ${round + 1}/${rounds}`)
  }
  return samples
}

/** The variants from another start in each round, forwards and backwards in turn: who runs behind whom changes. */
function ordered(variants: readonly Variant[], round: number): readonly Variant[] {
  const start = (round * 5) % variants.length
  const turned = [...variants.slice(start), ...variants.slice(0, start)]
  return round % 2 === 0 ? turned : turned.toReversed()
}
