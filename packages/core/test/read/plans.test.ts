import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageStatement, type ReadParams, type Stragglers } from '../../src/dialects/postgres/read-statements.ts'
import { openReadFeed } from './support.ts'

// The production text through the planner, at a million entries: which index serves which half is part of the procedure
// (docs/decisions/0002-log-indexes.md), whatever the plan mode.

const ENTRIES = 1_000_000

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Total Cost': number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

let at: Awaited<ReturnType<typeof openReadFeed>>
/** Plans from before the log was ever analysed. */
const unanalysed = new Map<string, PlanNode>()

/** Entries of one common tenant, a hundred rarer ones and the global rows, two to a transaction; `lately` more of the common tenant at the end. */
async function fill(): Promise<void> {
  await at.run(`alter table tidemark.log set (autovacuum_enabled = off)`)
  await at.run(`insert into tidemark.log (xid, tbl, n, op, tenant, keys)
    select (g / 2 + 1000)::text::xid8, 1, 1, 'u', case when g % 10 = 0 then 't' || (g % 1000) when g % 10 = 1 then null else 'common' end, array[g::text]
    from generate_series(1, ${ENTRIES}) g`)
}

beforeAll(async () => {
  at = await openReadFeed()
  await at.run('truncate tidemark.log restart identity')
  await fill()
  for (const [name, one] of Object.entries(cases)) unanalysed.set(name, await explain(one, 'custom'))
  await at.run('analyze tidemark.log')
}, 120_000)
afterAll(() => at[Symbol.asyncDispose]())

interface Case {
  readonly audience: 'tenant' | 'global' | 'all'
  readonly stragglers?: Stragglers
  readonly params: Partial<ReadParams>
}

const types: Readonly<Record<keyof ReadParams, string>> = {
  tenant: 'text',
  hw: 'int8',
  part: 'int4',
  tables: 'int4[]',
  limit: 'int4',
  lookAt: 'int4',
  unsettled: 'xid8[]',
  unsettledFrom: 'xid8',
  unsettledBelow: 'xid8',
  snapXmax: 'xid8',
  snapXip: 'xid8[]',
  toXmax: 'xid8',
  toXip: 'xid8[]',
  after: 'int8',
  afterPart: 'int4',
}

const defaults: ReadParams = {
  tenant: 'common',
  hw: '10',
  part: 0,
  tables: '{1}',
  limit: 500,
  lookAt: 1001,
  unsettled: '{1001,1003}',
  unsettledFrom: '1005',
  unsettledBelow: '1005',
  snapXmax: '1005',
  snapXip: '{1001,1003}',
  toXmax: '900000',
  toXip: '{}',
  after: '2',
  afterPart: 0,
}

async function explain({ audience, stragglers = 'ranged', params }: Case, mode: string): Promise<PlanNode> {
  const { text, names } = pageStatement('tidemark', audience, stragglers)
  const values = { ...defaults, ...params }
  return at.db.connection().execute(async (connection) => {
    const run = (statement: string) =>
      sql.raw<Record<'QUERY PLAN', [{ Plan: PlanNode }]>>(statement).execute(connection)
    await run(`set plan_cache_mode = force_${mode}_plan`)
    await run(`prepare page (${names.map((name) => types[name]).join(', ')}) as ${text}`)
    try {
      const execute = `execute page (${names.map((name) => `'${values[name]}'`).join(', ')})`
      await run(`explain (analyze) ${execute}`)
      const { rows } = await run(`explain (analyze, buffers, timing off, format json) ${execute}`)
      const plan = rows[0]?.['QUERY PLAN'][0].Plan
      if (plan === undefined) throw new Error('no plan')
      return plan
    } finally {
      await run('deallocate page')
    }
  })
}

function* nodes(plan: PlanNode): Generator<PlanNode> {
  yield plan
  for (const child of plan.Plans ?? []) yield* nodes(child)
}

const buffers = (plan: PlanNode): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
const head = { hw: String(ENTRIES), unsettled: '{999990,999992}', unsettledFrom: '999995', unsettledBelow: '999995' }

const cases: Readonly<Record<string, Case>> = {
  'a tenant far behind': { audience: 'tenant', params: {} },
  'a tenant caught up': { audience: 'tenant', params: head },
  'a tenant caught up, with some transactions open': { audience: 'tenant', stragglers: 'listed', params: head },
  'a tenant caught up, with none open': { audience: 'tenant', stragglers: 'none', params: head },
  'a rare tenant far behind': { audience: 'tenant', params: { tenant: 't10' } },
  'a tenant nobody has heard of': { audience: 'tenant', params: { tenant: 'nobody' } },
  'a tenant with a wide gap of transactions': { audience: 'tenant', params: { hw: '5000', unsettledBelow: '4000' } },
  'global rows far behind': { audience: 'global', params: {} },
  'global rows caught up': { audience: 'global', params: head },
  'all tenants far behind': { audience: 'all', params: {} },
  'all tenants caught up': { audience: 'all', params: head },
  'a tenant that drains': {
    audience: 'tenant',
    stragglers: 'draining',
    params: { hw: '900000', snapXmax: '1001', snapXip: '{}' },
  },
  'all tenants that drain': {
    audience: 'all',
    stragglers: 'draining',
    params: { hw: '900000', snapXmax: '1001', snapXip: '{}' },
  },
}

it('a page costs the page, not the backlog', async () => {
  for (const mode of ['custom', 'generic']) {
    for (const audience of ['tenant', 'all'] as const) {
      const far = buffers(await explain({ audience, params: {} }, mode))
      const near = buffers(await explain({ audience, params: { hw: String(ENTRIES - 10_000) } }, mode))
      expect(far).toBeLessThanOrEqual(3 * near)
    }
  }
})

/** Every scan of the log is by an index, and nothing is sorted but stragglers that were found; these may be fetched by bitmap as well. */
function requireIndexes(plan: PlanNode): void {
  const indexesOf = (node: PlanNode) =>
    [...nodes(node)].map((n) => n['Index Name']).filter((name) => name !== undefined)
  const all = [...nodes(plan)]
  const scans = all.filter((node) => node['Relation Name'] === 'log')
  expect(scans.length).toBeGreaterThan(0)
  for (const scan of scans) {
    if (/^Index (Only )?Scan$/.test(scan['Node Type'])) continue
    expect([scan['Node Type'], indexesOf(scan)]).toEqual(['Bitmap Heap Scan', ['log_xid_tenant']])
  }
  for (const sort of all.filter((node) => node['Node Type'].includes('Sort')))
    expect(indexesOf(sort).every((name) => name === 'log_xid_tenant')).toBe(true)
  expect(buffers(plan)).toBeLessThan(4000)
}

it.each(Object.keys(cases))('before the log was ever analysed: %s', (name) => {
  const plan = unanalysed.get(name)
  if (plan === undefined) throw new Error('was not explained')
})

describe.each(['custom', 'generic'])('in a %s plan', (mode) => {
  it.each(Object.entries(cases))(
    '%s walks the right index, and sorts nothing but stragglers it found',
    async (_, one) => {
      const plan = await explain(one, mode)
      requireIndexes(plan)
      // Far from where Postgres would compile the statement first (jit_above_cost is 100,000).
      expect(plan['Total Cost']).toBeLessThan(50_000)
    },
  )
})
