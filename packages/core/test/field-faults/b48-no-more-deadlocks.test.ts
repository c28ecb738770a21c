import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { feedOn } from '../support/bed.ts'
import { now, changesSince } from '../support/changes.ts'
import { openPostgres, type PostgresBed, type PostgresSession } from '../support/postgres-bed.ts'

// B48: a lock in the write path that keeps the feed in order makes deadlocks with row and unique locks.

const ROUNDS = 50

let bed: PostgresBed
beforeAll(async () => {
  bed = await openPostgres()
  await bed.reset()
  await bed.sql(
    'create table a (id int primary key, v int not null default 0); create table b (id int primary key, v int not null default 0)',
  )
})
afterAll(() => bed.close())

/** Steps of two writers in a fixed order: writer, statement, and whether it must wait for the other. */
type Step = readonly [0 | 1, string, 'waits'?]

/** Two writers touch two tables in opposite order; which rows they share differs. */
function schedule(round: number): readonly Step[] {
  const key = 1000 + round
  switch (round % 3) {
    // Different rows: nobody waits for anybody.
    case 0:
      return [
        [0, 'update a set v = v + 1 where id = 1'],
        [1, 'update b set v = v + 1 where id = 2'],
        [0, 'update b set v = v + 1 where id = 1'],
        [1, 'update a set v = v + 1 where id = 2'],
        [1, 'commit'],
        [0, 'commit'],
      ]
    // The same new key: the second waits for the first, and fails when that one commits.
    case 1:
      return [
        [0, `insert into a values (${key})`],
        [1, `insert into b values (${key})`],
        [1, `insert into a values (${key})`, 'waits'],
        [0, `insert into b values (${key + 1000})`],
        [0, 'commit'],
        [1, 'rollback'],
      ]
    // The same rows, crosswise: a deadlock that is the writers' own, with or without capture.
    default:
      return [
        [0, 'update a set v = v + 1 where id = 3'],
        [1, 'update b set v = v + 1 where id = 3'],
        [0, 'update b set v = v + 1 where id = 3', 'waits'],
        [1, 'update a set v = v + 1 where id = 3'],
        [0, 'commit'],
        [1, 'commit'],
      ]
  }
}

async function waits(session: PostgresSession): Promise<void> {
  await vi.waitFor(
    async () =>
      expect(await bed.sql(`select wait_event_type from pg_stat_activity where pid = ${session.pid}`)).toEqual([
        { wait_event_type: 'Lock' },
      ]),
    { timeout: 10_000, interval: 2 },
  )
}

/** Runs all rounds; gives the outcome of every statement, in the order of the steps. */
async function outcomes(): Promise<string[]> {
  await bed.sql(
    'truncate a, b; insert into a select g from generate_series(1, 3) g; insert into b select g from generate_series(1, 3) g',
  )
  const setup = `set deadlock_timeout = '20ms'`
  await using first = await bed.session({ setup })
  await using second = await bed.session({ setup })
  const sessions = [first, second] as const
  const found: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(sessions.map((session) => session.sql('begin')))
    const pending: Promise<unknown>[] = []
    const busy: [Promise<unknown> | undefined, Promise<unknown> | undefined] = [undefined, undefined]
    for (const [i, [writer, statement, waiting]] of schedule(round).entries()) {
      await busy[writer]
      const settled = sessions[writer].sql(statement).then(
        () => 'ok',
        (error: { code?: string }) => error.code ?? String(error),
      )
      const noted = settled.then((outcome) => void (found[round * 10 + i] = outcome))
      pending.push(noted)
      busy[writer] = noted
      if (waiting === 'waits') await waits(sessions[writer])
      else await noted
    }
    await Promise.all(pending)
  }
  return found
}

it(`makes no deadlock and no wait in ${ROUNDS} rounds that is not there without capture`, async () => {
  const without = await outcomes()
  const feed = feedOn(bed, { a: { tenant: null, key: 'id' }, b: { tenant: null, key: 'id' } })
  await feed.migrate()
  const since = await now(feed)
  const captured = await outcomes()

  const deadlocks = (list: readonly string[]): number => list.filter((outcome) => outcome === '40P01').length
  expect(deadlocks(captured)).toBe(deadlocks(without))
  // Which of the two writers of a deadlock is told depends on whose timer is first; all else is the same, statement by statement.
  const apartFromDeadlocks = (list: readonly string[]): string[] => list.filter((_, i) => Math.trunc(i / 10) % 3 !== 2)
  expect(apartFromDeadlocks(captured)).toEqual(apartFromDeadlocks(without))
  expect(captured.filter((outcome) => outcome === '23505')).toHaveLength(17)
  // The second time capture was really on: the rounds without conflict alone make four changes each.
  expect((await changesSince(feed, since)).length).toBeGreaterThan((4 * ROUNDS) / 3)
})

it('lets nobody wait behind a writer who stays open', async () => {
  const feed = feedOn(bed, { a: { tenant: null, key: 'id' }, b: { tenant: null, key: 'id' } })
  await feed.migrate()
  await bed.sql('truncate a, b; insert into a values (1), (2); insert into b values (1), (2)')
  await using slow = await bed.session({ setup: 'begin' })
  await slow.sql('update a set v = 1 where id = 1; delete from b where id = 1')
  await using quick = await bed.session({ setup: `set lock_timeout = '1ms'` })
  await quick.sql('update a set v = 2 where id = 2; insert into b values (9); delete from b where id = 2')
  await slow.sql('rollback')
})
