import pg from 'pg'
import type { Statement } from './reader.ts'

/** `custom`: planned anew for the values at hand, as a read's statement is. `generic`: planned once, for whatever values. */
export const planModes = ['custom', 'generic'] as const
export type PlanMode = (typeof planModes)[number]

export interface Times {
  /** The executor from start to end. */
  readonly executionMs: number
  readonly planningMs: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

interface Explained {
  readonly Plan: PlanNode
  readonly 'Planning Time': number
  readonly 'Execution Time': number
}

/** Runs statements as a read does, in a read-only transaction with one snapshot, and lets the server say what they cost. */
export class Explainer implements AsyncDisposable {
  readonly #client: pg.Client
  readonly #prepared = new Map<string, string>()

  constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url })
    // The next query fails when the connection has broken; unheard, the event would end the process before.
    this.#client.on('error', () => {})
  }

  async connect(): Promise<void> {
    await this.#client.connect()
  }

  /** Times of the whole statement. The clock is not read for each row and node: that would cost more than the read. */
  async times(statement: Statement, mode: PlanMode): Promise<Times> {
    const explained = await this.#explain(statement, mode, 'timing off, buffers off')
    return { executionMs: explained['Execution Time'], planningMs: explained['Planning Time'] }
  }

  /** Pages touched, and how the log was scanned. */
  async pages(statement: Statement, mode: PlanMode): Promise<{ buffers: number; scans: readonly string[] }> {
    const { Plan: plan } = await this.#explain(statement, mode, 'timing off, buffers on')
    const scans = [...nodes(plan)]
      .filter((node) => node['Relation Name'] === 'log' || node['Index Name']?.startsWith('log_') === true)
      .map((node) => [node['Node Type'], node['Index Name']].filter((name) => name !== undefined).join(' '))
    return {
      buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      scans: [...new Set(scans)].toSorted(),
    }
  }

  async #explain(statement: Statement, mode: PlanMode, options: string): Promise<Explained> {
    const execute = await this.#execute(statement)
    await this.#client.query('begin isolation level repeatable read read only')
    try {
      await this.#client.query(`set local plan_cache_mode = force_${mode}_plan`)
      const { rows } = await this.#client.query<Record<'QUERY PLAN', readonly [Explained]>>(
        `explain (analyze, ${options}, format json) ${execute}`,
      )
      const explained = rows[0]?.['QUERY PLAN'][0]
      if (explained === undefined) throw new Error('no plan')
      return explained
    } finally {
      await this.#client.query('commit')
    }
  }

  /** An EXECUTE with the statement's values. Their types are those that the casts in its text give them. */
  async #execute({ text, values }: Statement): Promise<string> {
    let name = this.#prepared.get(text)
    if (name === undefined) {
      name = `polled_${this.#prepared.size}`
      await this.#client.query(`prepare ${name} as ${text}`)
      this.#prepared.set(text, name)
    }
    return `execute ${name} (${values.map((value) => pg.escapeLiteral(String(value))).join(', ')})`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

function* nodes(plan: PlanNode): Generator<PlanNode> {
  yield plan
  for (const child of plan.Plans ?? []) yield* nodes(child)
}
