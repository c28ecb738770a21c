import type pg from 'pg'
import { COLUMNS, installFeed, rowOf } from '../cli/bench-table.ts'
import { progress } from '../cli/output.ts'
import { median, round } from '../cli/statistics.ts'
import { ROWS_PER_STATEMENT, timed } from './bulk.ts'

const names = ['parted_plain', 'parted_tracked'] as const

const statements = {
  insert: (table: string) =>
    `insert into ${table} select ${rowOf('g')} from generate_series(1, ${ROWS_PER_STATEMENT}) g`,
  update: (table: string) => `update ${table} set title = title || '.'`,
  delete: (table: string) => `delete from ${table}`,
}
type Statement = keyof typeof statements

/** 10,000 rows by one statement on a table of four partitions, which row triggers capture: captured ÷ uncaptured, and median milliseconds. */
export type PartitionedReport = Readonly<
  Record<Statement, { readonly ratio: number; readonly plainMs: number; readonly trackedMs: number }>
>

export async function measurePartitioned(
  admin: pg.Client,
  url: string,
  pairs: number,
  connect: (url: string) => Promise<pg.Client>,
): Promise<PartitionedReport> {
  for (const name of names) {
    await admin.query(`create table ${name} (${COLUMNS}, primary key (id, tenant_id)) partition by hash (tenant_id)`)
    for (let i = 0; i < 4; i++) {
      await admin.query(
        `create table ${name}_${i} partition of ${name} for values with (modulus 4, remainder ${i}) with (autovacuum_enabled = off)`,
      )
    }
    await admin.query(`create index on ${name} (tenant_id, project_id)`)
  }
  await installFeed(url, {
    parted_tracked: { tenant: 'tenant_id', key: ['id', 'tenant_id'], scopes: ['project_id'] },
  })

  const client = await connect(url)
  const times = new Map<string, number[]>()
  const of = (statement: Statement, table: string): number[] => {
    const key = `${statement} ${table}`
    return times.get(key) ?? times.set(key, []).get(key) ?? []
  }
  try {
    const before = await keys(admin)
    for (let pair = 0; pair < pairs; pair++) {
      const order = pair % 2 === 0 ? names : names.toReversed()
      for (const statement of ['insert', 'update', 'delete'] as const)
        for (const table of order) of(statement, table).push(await timed(client, statements[statement](table)))
      for (const table of names) await admin.query(`vacuum analyze ${table}`)
      progress(`partitioned ${pair + 1}/${pairs}`)
    }
    const told = (await keys(admin)) - before
    if (told !== 3 * pairs * ROWS_PER_STATEMENT) throw new Error(`the log holds ${told} keys of the partitioned table`)
  } finally {
    await client.end()
  }
  const report = (statement: Statement) => {
    const plain = of(statement, names[0])
    const tracked = of(statement, names[1])
    const ratios = tracked.map((ms, i) => ms / (plain[i] ?? Number.NaN))
    return { ratio: round(median(ratios)), plainMs: round(median(plain), 1), trackedMs: round(median(tracked), 1) }
  }
  return { insert: report('insert'), update: report('update'), delete: report('delete') }
}

async function keys(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ keys: string }>(
    `select coalesce(sum(n), 0)::text as keys from tidemark.log where keys is not null`,
  )
  return Number(rows[0]?.keys)
}
