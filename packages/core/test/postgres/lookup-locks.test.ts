import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { InsufficientRightsError } from '../../src/index.ts'
import { type AnyFeed, feedOn } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'
import { withRole } from '../support/roles.ts'
import { quiet, startUp } from '../support/start-up.ts'

// What a change to row triggers and the rights of their look-ups ask of others: locks, and a schema's owner.

const declared = { tenant: 'tenant', key: 'id' } as const
const trigger = 'create trigger app after insert on t for each row execute function app.nothing()'

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  await bed().sql(
    `create table t (id int primary key, tenant text not null, v text); create function app.nothing() returns trigger language plpgsql as 'begin return null; end'`,
  )
  feed = feedOn(bed(), { t: declared })
  await feed.migrate()
})

const impatient = { lockTimeoutMs: 1, lockAttempts: 1 }
/** From now on a key can be taken before it is freed, and must be looked up. */
const deferrable = 'alter table t drop constraint t_pkey, add primary key (id) deferrable'
const rowTriggers = async (): Promise<number> =>
  (await bed().sql(`select from pg_trigger where tgrelid = 't'::regclass and tgname ~ '^!' and tgtype & 1 = 1`)).length
const someoneWaits = (): Promise<void> =>
  vi.waitFor(
    async () => {
      const waiting = await bed().sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'relation'`,
      )
      if (waiting.length === 0) throw new Error('nobody waits')
    },
    { timeout: 10_000, interval: 5 },
  )

describe('changing to row triggers and back', () => {
  it('waits for no reader', async () => {
    await using reader = await bed().session({ setup: 'begin; select from t' })
    for (const ddl of [trigger, 'alter table t disable trigger app', 'alter table t enable trigger app']) {
      await bed().sql(ddl)
      expect(await feed.migrate(impatient)).toEqual({ migrations: [], installed: ['t'] })
      expect(await feed.verify()).toEqual([])
      await reader.sql('select from t')
    }
    expect(await rowTriggers()).toBe(3)
    await reader.sql('rollback')
  })

  it('waits for writers, in vain changes nothing, and no write is told in both ways', async () => {
    await bed().sql(trigger)
    await using writer = await bed().session({ setup: `begin; insert into t values (1, 'acme')` })
    await expect(feed.migrate(impatient)).rejects.toMatchObject({ code: 'lockTimeout', table: 't' })
    expect(await rowTriggers()).toBe(0)
    expect(await changesOf({ ...bed(), sql: writer.sql }, feed, `insert into t values (2, 'acme')`, 'commit')).toEqual([
      'create t 1 @acme',
      'create t 2 @acme',
    ])
    await feed.migrate(impatient)
    expect(await rowTriggers()).toBe(3)
    expect(await startUp(bed(), feed)).toEqual(quiet)
  })

  it('under row security needs the table to itself for its policy: in vain changes nothing', async () => {
    await bed().sql(`alter table t enable row level security; ${deferrable}`)
    await using reader = await bed().session({ setup: 'begin; select from t' })
    await expect(feed.migrate(impatient)).rejects.toMatchObject({ code: 'lockTimeout', table: 't' })
    expect(await bed().sql('select from pg_policy')).toEqual([])
    await reader.sql('rollback')
    await feed.migrate(impatient)
    expect(await startUp(bed(), feed)).toEqual(quiet)
  })

  it('under row security never stands between a reader and its own write: neither is sacrificed to a deadlock', async () => {
    await bed().sql(`alter table t enable row level security; ${deferrable}`)
    await using app = await bed().session({ setup: `set deadlock_timeout = '10ms'; begin; select from t` })
    const migrating = feed.migrate({ lockTimeoutMs: 10_000, lockAttempts: 1 })
    await someoneWaits()
    const [written, migrated] = await Promise.allSettled([
      app.sql(`insert into t values (1, 'acme'); commit`),
      migrating,
    ])
    expect([written, migrated]).toMatchObject([
      { status: 'fulfilled' },
      { status: 'fulfilled', value: { installed: ['t'] } },
    ])
  })
})

describe('an installer that owns the table but not its schema', () => {
  it('is given the step that lets the capture role look up keys; done by the owner, it is enough', async () => {
    const captureRole = `tidemark_test_${randomBytes(4).toString('hex')}_capture`
    await using role = await withRole(bed(), { app: 'usage' }, 'createrole')
    await bed().sql(
      `${deferrable}; drop schema tidemark cascade; create role ${captureRole} nologin; grant ${captureRole} to ${role.name}; create schema tidemark authorization ${role.name}; alter table t owner to ${role.name}`,
    )
    const url = new URL(bed().url)
    url.username = role.name
    url.password = role.password
    {
      await using own = bed().connect({ url: url.href })
      const byRow = feedOn(bed(), { t: { ...declared, capture: 'row' } }, { captureRole, db: own.db })
      const error = (await byRow.migrate().catch((thrown: unknown) => thrown)) as InsufficientRightsError
      expect(error).toMatchObject({ code: 'insufficientRights', message: expect.stringContaining('"app"') })
      expect(await bed().sql(`select from pg_trigger where tgname ~ '^!'`)).toEqual([])
      for (const step of error.steps) await bed().sql(step)
      expect(await byRow.migrate()).toMatchObject({ installed: ['t'] })
      expect(await byRow.verify()).toEqual([])
      expect(await changesOf(bed(), byRow, `insert into t values (1, 'acme')`, 'update t set id = 2')).toEqual([
        'create t 1 @acme',
        'delete t 1 @acme',
        'create t 2 @acme',
      ])
    }
    await bed().reset()
    await bed().sql(`drop owned by ${captureRole}; drop role ${captureRole}`)
  })
})
