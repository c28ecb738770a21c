import { setTimeout as delay } from 'node:timers/promises'
import { LockTimeoutError } from '@tidemark/core'
import { sql } from 'kysely'
import { truncateVisits } from './operations-visits.ts'
import { dayText, type Partition } from './partitions.ts'
import type { Random } from './random.ts'
import { tenants } from './tables.ts'
import { impatiently, inTransaction, type Work, type WriterWorld } from './writer-context.ts'

/** Rounds of two partitions each: more would only slow down what is written through the parent. */
const ROUNDS = 4

/**
 * Makes partitions of `visits` while everybody writes: one that is created and written before the feed hears of it, one that is attached with rows in it,
 * which no trigger has seen and `migrate()` announces. What has been made is then truncated by itself.
 */
export async function runLandlord(world: WriterWorld, random: Random): Promise<void> {
  for (let round = 0; round < ROUNDS && (round === 0 || !world.stopping()); round++) {
    await delay(random.int(200, 400))
    const created = world.partitions.next(3)
    await inTime(
      world,
      random,
      (work) => create(work, created),
      () => world.partitions.add(created),
    )
    await migrate(world)
    const attached = world.partitions.next(3)
    await build(world, attached)
    await inTime(
      world,
      random,
      (work) => attach(work, attached),
      () => world.partitions.add(attached),
    )
    await migrate(world)
    await delay(random.int(300, 1500))
    await inTime(
      world,
      random,
      (work) => truncateVisits(work, random.pick([created, attached]).table),
      () => {},
    )
    await delay(round * random.int(1000, 3000))
  }
}

/** Runs a transaction again and again until it commits: in the end nobody is in its way any more. */
async function inTime(
  world: WriterWorld,
  random: Random,
  work: (work: Work) => Promise<void>,
  committed: () => void,
): Promise<void> {
  for (;;) {
    if (await inTransaction(world, random, { isolation: 'read committed', end: 'commit', work })) return committed()
    await delay(random.int(10, 60))
  }
}

const bounds = ({ from, below }: Partition) =>
  sql`for values from (${sql.lit(dayText(from))}) to (${sql.lit(dayText(below))})`

/** Written directly in the transaction that creates it. */
async function create(work: Work, partition: Partition): Promise<void> {
  const table = sql.table(partition.table)
  await impatiently(work, () => sql`create table ${table} partition of visits ${bounds(partition)}`.execute(work.trx))
  const day = dayText(partition.from)
  await sql`insert into ${table} (day, id, tenant_id) select ${day}::date, id, ${work.random.pick(tenants)} from generate_series(1, 20) id`.execute(
    work.trx,
  )
  for (let id = 1; id <= 20; id++) work.notes.note('visits', JSON.stringify([day, String(id)]), 'arrived', 1)
  work.did('partitionsCreated')
}

/** A table of its own so far: its columns stand in another order, and one is gone. */
async function build({ side: { db } }: WriterWorld, { table: name, from }: Partition): Promise<void> {
  const table = sql.table(name)
  const day = dayText(from)
  await sql`create table ${table} (gone text, note text, tenant_id text not null, id bigint not null, version integer not null default 1, day date not null,
    primary key (day, id))`.execute(db)
  await sql`alter table ${table} drop column gone`.execute(db)
  await sql`insert into ${table} (day, id, tenant_id) select ${day}::date, id, (${tenants}::text[])[1 + id % ${tenants.length}] from generate_series(1, 30) id`.execute(
    db,
  )
}

async function attach(work: Work, partition: Partition): Promise<void> {
  await impatiently(work, () =>
    sql`alter table visits attach partition ${sql.table(partition.table)} ${bounds(partition)}`.execute(work.trx),
  )
  work.did('partitionsAttached')
}

/** As an application does after DDL, until it gets its locks. */
async function migrate({ side, witness }: WriterWorld): Promise<void> {
  for (;;) {
    try {
      const { installed } = await side.feed.migrate({ lockTimeoutMs: 150, lockAttempts: 5 })
      return witness.sawMigrate(installed)
    } catch (error) {
      if (!(error instanceof LockTimeoutError)) throw error
    }
  }
}
