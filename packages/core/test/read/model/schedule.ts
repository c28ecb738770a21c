import fc from 'fast-check'
import { ROWS, TABLES, TENANTS } from './log.ts'
import type { Request } from './page-view.ts'

/** One step of a schedule. Numbers choose among what there is at that moment, modulo: each step means something in each state. */
export type Step =
  | { readonly do: 'begin'; readonly early: boolean }
  | {
      readonly do: 'write'
      readonly tx: number
      readonly tenant: number
      readonly table: number
      readonly rows: number
    }
  | {
      readonly do: 'append'
      readonly tx: number
      readonly tenant: number
      readonly table: number
      readonly keys: number
    }
  | { readonly do: 'subtransactions'; readonly tx: number; readonly ids: number; readonly rolledBack: boolean }
  | { readonly do: 'end'; readonly tx: number; readonly commit: boolean }
  | { readonly do: 'keep'; readonly slot: number }
  | { readonly do: 'open'; readonly request: Request; readonly from: 'start' | 'now'; readonly snapshot: number }
  | { readonly do: 'fork'; readonly chain: number }
  | { readonly do: 'read'; readonly chain: number; readonly snapshot: number }
  | { readonly do: 'mark' }
  | { readonly do: 'prune'; readonly mark: number; readonly batch: number }
  | { readonly do: 'compact'; readonly mark: number; readonly remove: boolean }

/** The snapshot taken now; smaller numbers are slots of kept ones. */
export const NOW = 2

const FEWEST_STEPS = 20
const MOST_STEPS = 160

const which = fc.nat(5)
const tenant = fc.nat(TENANTS.length - 1)
const table = fc.nat(TABLES - 1)
const usually = fc.constantFrom(true, true, true, false)
const snapshot = fc.constantFrom(NOW, NOW, NOW, NOW, 0, 1)
const chain = fc.nat(5)

/** Tenant a and global; tenant b and global; global only; everything. */
const audiences = [0b101, 0b101, 0b110, 0b100, 0b111, 0b111]

const request = fc.record({
  audience: fc.constantFrom(...audiences),
  tables: fc.constantFrom(0b11, 0b11, 0b01, 0b10),
  limit: fc.constantFrom(1, 2, 3, 4, 50),
  lookAt: fc.constantFrom(60, 60, 2, 3),
})

type Rest<D extends Step['do']> = Omit<Extract<Step, { do: D }>, 'do'>

function step<D extends Step['do']>(
  does: D,
  rest: { [K in keyof Rest<D>]: fc.Arbitrary<Rest<D>[K]> },
): fc.Arbitrary<Step> {
  return fc.record({ do: fc.constant(does), ...rest }) as fc.Arbitrary<Step>
}

const writing: fc.WeightedArbitrary<Step>[] = [
  { weight: 5, arbitrary: step('begin', { early: fc.boolean() }) },
  {
    weight: 12,
    arbitrary: step('write', { tx: which, tenant, table, rows: fc.integer({ min: 1, max: 2 ** ROWS - 1 }) }),
  },
  { weight: 4, arbitrary: step('append', { tx: which, tenant, table, keys: fc.nat(6) }) },
  {
    weight: 2,
    arbitrary: step('subtransactions', { tx: which, ids: fc.constantFrom(1, 3), rolledBack: fc.boolean() }),
  },
  { weight: 5, arbitrary: step('end', { tx: which, commit: usually }) },
]

const reading: fc.WeightedArbitrary<Step>[] = [
  { weight: 2, arbitrary: step('keep', { slot: fc.nat(NOW - 1) }) },
  { weight: 2, arbitrary: step('open', { request, from: fc.constantFrom('start', 'now'), snapshot }) },
  { weight: 1, arbitrary: step('fork', { chain }) },
  { weight: 20, arbitrary: step('read', { chain, snapshot }) },
]

const retention: fc.WeightedArbitrary<Step>[] = [
  { weight: 3, arbitrary: step('mark', {}) },
  { weight: 3, arbitrary: step('prune', { mark: fc.nat(9), batch: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: step('compact', { mark: fc.nat(9), remove: fc.boolean() }) },
]

export interface Schedule {
  /** Whether ids lie far apart, see `Database`. */
  readonly wide: boolean
  /** Readers from the start, before the first step. */
  readonly readers: readonly Request[]
  readonly steps: readonly Step[]
}

function schedule(kinds: fc.WeightedArbitrary<Step>[]): fc.Arbitrary<Schedule> {
  return fc.record({
    wide: fc.constantFrom(false, false, false, true),
    readers: fc.array(request, { minLength: 1, maxLength: 2 }),
    steps: fc.array(fc.oneof(...kinds), { minLength: FEWEST_STEPS, maxLength: MOST_STEPS, size: 'max' }),
  })
}

/** Writers and readers. */
export const writersAndReaders: fc.Arbitrary<Schedule> = schedule([...writing, ...reading])

/** Writers, readers, pruning and compaction. */
export const withRetention: fc.Arbitrary<Schedule> = schedule([...writing, ...reading, ...retention])

/** Either of them. */
export const anySchedule: fc.Arbitrary<Schedule> = fc.oneof(writersAndReaders, withRetention)
