import type { ChangesInput, ChangesOutput, WireChange } from '../../src/index.ts'
import { settle } from './fake-environment.ts'

export type Table = 'shipments' | 'notes'

/** A request that waits for the test's answer. */
export interface ScriptedCall {
  readonly input: ChangesInput<Table>
  readonly signal: AbortSignal
  readonly answer: (output: ChangesOutput<Table>) => Promise<void>
  /** Any value, as a proxy or another version might answer. */
  readonly answerAnything: (output: unknown) => Promise<void>
  readonly fail: (error: unknown) => Promise<void>
}

/** Stands where a tRPC client's branch stands; the test answers each request by hand. */
export class ScriptedSync {
  readonly calls: ScriptedCall[] = []
  /** Answers at once, in the given order, before the test is asked. */
  readonly prepared: ChangesOutput<Table>[] = []

  readonly changes = {
    query: (input: ChangesInput<Table>, options: { signal?: AbortSignal } = {}): Promise<ChangesOutput<Table>> =>
      new Promise((resolve, reject) => {
        const prepared = this.prepared.shift()
        if (options.signal === undefined) throw new Error('a request without a signal')
        this.calls.push({
          input,
          signal: options.signal,
          answer: async (output) => (resolve(output), await settle()),
          answerAnything: async (output) => (resolve(output as ChangesOutput<Table>), await settle()),
          fail: async (error) => (reject(error), await settle()),
        })
        if (prepared !== undefined) resolve(prepared)
      }),
  }

  get last(): ScriptedCall {
    const call = this.calls.at(-1)
    if (call === undefined) throw new Error('no request was made')
    return call
  }

  get sinces(): readonly string[] {
    return this.calls.map((call) => call.input.since)
  }
}

export function change(table: Table, key: string): WireChange<Table> {
  return { table, key, operation: 'update', global: false, at: '2030-01-01T00:00:00.000000Z' }
}

/** A page that ends at `cursor`; up to date unless it has more. */
export function page(
  cursor: string,
  changes: readonly WireChange<Table>[] = [],
  hasMore = false,
): ChangesOutput<Table> {
  return { changes, cursor, hasMore, upToDate: !hasMore }
}

/** What the tRPC client throws for an HTTP status, reduced to the parts that count. */
export function httpError(status: number, extra: { tidemark?: unknown; headers?: Record<string, string> } = {}): Error {
  const response = { status, headers: new Headers(extra.headers) }
  return Object.assign(new Error(`answered ${status}`), {
    data: { httpStatus: status, ...(extra.tidemark === undefined ? {} : { tidemark: extra.tidemark }) },
    meta: { response },
  })
}
