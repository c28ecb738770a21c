import { afterAll, beforeAll, expect, it } from 'vitest'
import { feedOn } from '../support/bed.ts'
import { changesSince, now } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// Capture changes from statement to row triggers and back while everybody writes: no write falls between the two, and none is told twice.

const WRITERS = 4
const SWITCHES = 8

let bed: PostgresBed
beforeAll(async () => {
  bed = await openPostgres()
  await bed.reset()
})
afterAll(() => bed.close())

it('writers that go on while the kind of trigger changes are captured once each', { timeout: 60_000 }, async () => {
  await bed.sql(
    `create table tasks (id int primary key, tenant_id text not null, v int);
     create function app.audit() returns trigger language plpgsql as 'begin return null; end'`,
  )
  const feed = feedOn(bed, { tasks: { tenant: 'tenant_id', key: 'id' } })
  await feed.migrate()
  const since = await now(feed)

  const written: string[] = []
  let stopping = false
  const write = async (writer: number): Promise<void> => {
    await using session = await bed.session()
    for (let i = 0; !stopping; i++) {
      const id = writer * 1_000_000 + 10 * i
      await session.sql(
        `begin; insert into tasks values (${id}, 'acme', 0), (${id + 1}, 'acme', 0); insert into tasks values (${id + 2}, 'acme', 0);
         update tasks set v = 1 where id = ${id}; update tasks set id = id + 3 where id = ${id + 2}; delete from tasks where id = ${id + 1}; commit`,
      )
      for (const [operation, key] of [
        ['create', 0],
        ['create', 1],
        ['create', 2],
        ['update', 0],
        ['delete', 2],
        ['create', 5],
        ['delete', 1],
      ] as const)
        written.push(`${operation} tasks ${id + key} @acme`)
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, i) => write(i + 1))
  try {
    for (let i = 0; i < SWITCHES; i++) {
      await bed.sql(
        i % 2 === 0
          ? 'create trigger audit after insert on tasks for each row execute function app.audit()'
          : 'drop trigger audit on tasks',
      )
      expect(await feed.verify()).toMatchObject([{ code: 'level', unseen: false }])
      expect(await feed.migrate()).toMatchObject({ installed: ['tasks'] })
      expect(await feed.verify()).toEqual([])
    }
  } finally {
    stopping = true
    await Promise.all(writers)
  }
  const told = await changesSince(feed, since)
  expect(written.length).toBeGreaterThan(WRITERS * 7)
  expect(told.toSorted()).toEqual(written.toSorted())
})
