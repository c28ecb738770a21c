import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { feedOn } from '../support/bed.ts'
import { entriesOf } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// Twenty processes of a new deployment start at once on a database that has never seen the feed.

const STARTS = 20
const schema = `race_${randomBytes(4).toString('hex')}`

let bed: PostgresBed
beforeAll(async () => {
  bed = await openPostgres({ feedSchema: schema })
  await bed.reset()
})
afterAll(async () => {
  await bed.sql(`drop schema if exists ${schema} cascade; drop owned by ${schema}_capture; drop role ${schema}_capture`)
  await bed.close()
})

it('twenty starts at once, of two versions of the app, install everything once', async () => {
  await bed.sql(
    'create table tasks (id int primary key, tenant_id text not null, project int, team text); create table cities (id int primary key)',
  )
  const processes = Array.from({ length: STARTS }, () => bed.connect({ max: 2 }))
  await using _ = {
    [Symbol.asyncDispose]: async () => void (await Promise.all(processes.map(({ db }) => db.destroy()))),
  }
  const feeds = processes.map(({ db }, i) => {
    const scopes = i % 2 === 0 ? ['project'] : ['project', 'team']
    return feedOn(
      bed,
      {
        tasks: { tenant: 'tenant_id', key: 'id', scopes },
        ...(i % 2 === 0 ? {} : { cities: { tenant: null, key: 'id' } }),
      },
      { db },
    )
  })
  const reports = await Promise.all(feeds.map((feed) => feed.migrate()))

  expect(reports.flatMap(({ migrations }) => migrations)).toEqual([1, 2])
  const installed = reports.flatMap((report) => report.installed)
  expect(installed.filter((table) => table === 'cities')).toHaveLength(1)
  // Once as the older version declares it and once with the scope that the newer one adds, or once with both.
  expect([1, 2]).toContain(installed.filter((table) => table === 'tasks').length)
  const announced = await bed.sql(
    `select t.name from ${schema}.log l join ${schema}.tracked t on t.number = l.tbl where l.op = 'i' order by l.id`,
  )
  expect(announced.map(({ name }) => name).toSorted()).toEqual(installed.toSorted())

  for (const feed of feeds) expect(await feed.verify()).toEqual([])
  expect(await Promise.all(feeds.map((feed) => feed.migrate()))).toEqual(
    Array.from({ length: STARTS }, () => ({ migrations: [], installed: [] })),
  )
  expect(
    await bed.sql(
      `select tgrelid::regclass::text as table, count(*)::int as triggers from pg_trigger where not tgisinternal group by 1 order by 1`,
    ),
  ).toEqual([
    { table: 'cities', triggers: 5 },
    { table: 'tasks', triggers: 5 },
  ])
  expect(await entriesOf(bed, `insert into tasks values (1, 'acme', 2, 'a')`)).toMatchObject([
    { op: 'c', scopes: ['2', 'a'] },
  ])
})

it('two databases that make the same capture role at once both succeed', async () => {
  const shared = `tidemark_test_${randomBytes(4).toString('hex')}`
  const beds = await Promise.all([openPostgres(), openPostgres(), openPostgres()])
  try {
    const feeds = await Promise.all(
      beds.map(async (each) => {
        await each.reset()
        await each.sql('create table tasks (id int primary key)')
        return feedOn(each, { tasks: { tenant: null, key: 'id' } }, { captureRole: shared })
      }),
    )
    await Promise.all(feeds.map((feed) => feed.migrate()))
    for (const feed of feeds) expect(await feed.verify()).toEqual([])
  } finally {
    await Promise.all(beds.map((each) => each.close()))
    await bed.sql(`drop role ${shared}`)
  }
})
