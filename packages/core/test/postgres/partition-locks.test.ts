import { beforeEach, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { byRegion, regions } from '../contract/partitions.ts'
import { type AnyFeed, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'
import { quiet, startUp } from '../support/start-up.ts'

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  await bed().sql(regions)
  feed = feedOn(bed(), byRegion)
})

const impatient = { lockTimeoutMs: 1, lockAttempts: 1 }
const lockTimeout = { code: 'lockTimeout', category: 'availability', retryable: true, table: 't' }
const triggers = async (): Promise<unknown[]> => await bed().sql(`select from pg_trigger where tgname ~ '^!'`)

it('an open writer on one partition is waited for: in vain, nothing is installed on any', async () => {
  await using writer = await bed().session({
    setup: `begin; insert into tm_n (id, region, tenant) values (1, 'n', 'acme')`,
  })
  await expect(feed.migrate(impatient)).rejects.toMatchObject(lockTimeout)
  expect(await triggers()).toEqual([])
  await writer.sql('commit')
  await feed.migrate(impatient)
  expect(await changesOf(bed(), feed, `delete from tm_n`)).toEqual(['delete t ["1","n"] @acme'])
})

it('untrack() waits for it too, and in vain removes nothing', async () => {
  await feed.migrate()
  const installed = await triggers()
  await using writer = await bed().session({
    setup: `begin; insert into tb (id, region, tenant) values (1, 'b', 'acme')`,
  })
  await expect(untrack(feed, 't', impatient)).rejects.toMatchObject(lockTimeout)
  expect(await triggers()).toEqual(installed)
  expect(await feed.verify()).toEqual([])
  await writer.sql('commit')
  await untrack(feed, 't', impatient)
  expect(await triggers()).toEqual([])
})

it('a new partition gets its truncate trigger beside open writers on the others, and readers everywhere', async () => {
  await feed.migrate()
  await bed().sql(`create table tc partition of t for values in ('c')`)
  await using writer = await bed().session({ setup: `begin; insert into ta values (1, 'a', 'acme'); select from t` })
  expect(await feed.migrate(impatient)).toEqual({ migrations: [], installed: ['t'] })
  await writer.sql('commit')
  expect(await startUp(bed(), feed)).toEqual(quiet)
})

it('rows that came unseen are announced only when no open writer can still be about to be told in the old form', async () => {
  await feed.migrate()
  await bed().sql(
    `create table tc (like t including all); insert into tc values (1, 'c', 'acme'); alter table t attach partition tc for values in ('c')`,
  )
  await using writer = await bed().session({ setup: `begin; insert into ta values (1, 'a', 'acme')` })
  await expect(feed.migrate(impatient)).rejects.toMatchObject(lockTimeout)
  await writer.sql('commit')
  expect(await startUp(bed(), feed)).toMatchObject({ told: ['invalidate t'] })
})

it('an up-to-date table is only looked at, whatever locks others hold on it and its partitions', async () => {
  await bed().sql('alter table t enable row level security')
  await feed.migrate()
  const schema = quoted(bed().feedSchema)
  await using holder = await bed().session({
    setup: `begin; lock table t, ta, tb, tm, tm_m, tm_n, td in access exclusive mode; lock table ${schema}.tracked, ${schema}.migration in row exclusive mode;
            select pg_advisory_xact_lock(hashtextextended('tidemark:${bed().feedSchema}', 0))`,
  })
  await using looking = bed().connect({ settings: '-c default_transaction_read_only=on -c lock_timeout=1ms' })
  const again = feedOn(bed(), byRegion, { db: looking.db })
  expect(await again.verify()).toEqual([])
  expect(await again.migrate()).toEqual({ migrations: [], installed: [] })
  await holder.sql('rollback')
})
