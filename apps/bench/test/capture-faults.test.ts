import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { truncateVisits } from '../src/torture/operations-visits.ts'
import { everything } from '../src/torture/operations.ts'
import { FEED_SCHEMA, tenants } from '../src/torture/tables.ts'
import type { Operation } from '../src/torture/writer-context.ts'
import { FAULTLESS, SmallRun } from './support/small-run.ts'

/* Capture that is damaged on purpose must be found, by the comparison with what was written and by both replicas. */

/** Rows that nobody else writes, by the partition that holds their day. */
const insertInto =
  (table: string, day: string): Operation =>
  async ({ trx, notes }) => {
    await sql`insert into ${sql.table(table)} (day, id, tenant_id) select ${day}::date, id, 'east' from generate_series(901, 904) id`.execute(
      trx,
    )
    for (let id = 901; id <= 904; id++) notes.note('visits', JSON.stringify([day, String(id)]), 'arrived', 1)
  }

let run: SmallRun

beforeAll(async () => {
  run = await SmallRun.open()
})

afterAll(async () => {
  await run[Symbol.asyncDispose]()
})

test('everything that writers do, one after the other, is captured and told', { timeout: 120_000 }, async () => {
  let committed = 0
  const report = await run.judged('start', async () => {
    for (const operation of [...everything, ...everything])
      if (await run.write(operation, run.random.pick(tenants))) committed += 1
  })
  expect(committed).toBeGreaterThan(everything.length)
  expect(report, JSON.stringify(report.violations)).toMatchObject(FAULTLESS)
})

test('rows of a partition without its trigger are missed by the log and by both replicas', async () => {
  const sound = await run.judged('now', () => run.write(insertInto('visits_early', '2024-01-05')))
  expect(sound).toMatchObject(FAULTLESS)
  const broken = await run.judged('now', async () => {
    await alterTrigger(['visits_late_0', 'visits_late_1'], 'disable', 'c')
    await run.write(insertInto('visits_late', '2024-01-15'))
    await alterTrigger(['visits_late_0', 'visits_late_1'], 'enable always', 'c')
  })
  expect(broken).toMatchObject({ ...FAULTLESS, uncaptured: 4, replicaFaults: 4, replicaDiffers: 4 })
})

test('a partition truncated without its trigger is missed too', async () => {
  const before = (await run.judged('now', async () => {})).uncaptured
  let lost = 0
  const broken = await run.judged('now', async () => {
    await alterTrigger(['visits_early'], 'disable', 't')
    const { rows } = await sql<{ rows: number }>`select count(*)::int as rows from visits_early`.execute(run.side.db)
    lost = rows[0]?.rows ?? 0
    await run.write((work) => truncateVisits(work, 'visits_early'))
  })
  expect(lost).toBeGreaterThan(0)
  expect(broken).toMatchObject({ ...FAULTLESS, uncaptured: before + 1, replicaFaults: lost, replicaDiffers: lost })
})

/** Row triggers fire on the leaf that holds the row. */
async function alterTrigger(leaves: readonly string[], how: string, operation: 'c' | 't'): Promise<void> {
  const name = sql.id(`!${FEED_SCHEMA}_${operation}`)
  for (const leaf of leaves)
    await sql`alter table ${sql.table(leaf)} ${sql.raw(how)} trigger ${name}`.execute(run.side.db)
}
