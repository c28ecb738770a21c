import type { BenchTable } from './tables.ts'

/** What the load generator can do; each is one row in one transaction. */
export type Workload = 'update' | 'hotTenant' | 'insert' | 'delete'

/** A slice of load. */
export interface Slice {
  readonly workload: Workload
  readonly table: BenchTable
  /** Rows the tables started with. */
  readonly rows: number
  /** For inserts and deletes: the first id. Slices with the same one go on where the last one stopped. */
  readonly firstId: number
  /** Load before the clock starts, with the same connections. */
  readonly warmupMs: number
  readonly ms: number
}

/** What one slice did, warm-up left out unless said. */
export interface SliceResult {
  readonly transactions: number
  /** Transactions of the warm-up and the slice together. */
  readonly allTransactions: number
  readonly elapsedMs: number
  /** CPU of the load generator. */
  readonly clientCpuMs: number
  /** CPU of its server processes; `null` where it cannot be read. */
  readonly serverCpuMs: number | null
}

/** Parent to generator, then back. */
export type Request =
  | { readonly kind: 'open'; readonly url: string; readonly connections: number; readonly readServerCpu: boolean }
  | { readonly kind: 'run'; readonly slice: Slice }
  | { readonly kind: 'close' }

export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'result'; readonly result: SliceResult }
  | { readonly kind: 'failed'; readonly message: string }
