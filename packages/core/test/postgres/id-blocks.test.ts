import { beforeEach, expect, it } from 'vitest'
import { type AnyFeed, feedOn } from '../support/bed.ts'
import { changesBy, changesOf, changesSince, now } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  await bed().sql(`create table tasks (id int primary key, v text)`)
  feed = feedOn(bed(), { tasks: { tenant: null, key: 'id' } })
  await feed.migrate()
})

it('ids handed out in blocks are found as unseen changes; migrate() tells all tables, and takes the blocks away', async () => {
  await bed().sql('alter table tidemark.log alter column id set cache 20')
  expect(await feed.verify()).toMatchObject([{ code: 'idBlocks', unseen: true }])
  await using a = await bed().session()
  await a.sql('insert into tasks values (1)')
  await bed().sql('insert into tasks values (2)')
  const since = await now(feed)
  await a.sql('insert into tasks values (3)')
  await feed.migrate()
  expect(await feed.verify()).toEqual([])
  // The session that held a block writes on: after the announcement, and by a new id.
  await a.sql('insert into tasks values (4)')
  expect((await changesSince(feed, since)).slice(-2)).toEqual(['invalidate tasks *', 'create tasks 4'])
})

it('a column dropped and added anew under its name is announced', async () => {
  await bed().sql(`insert into tasks values (1, 'x'); alter table tasks drop v; alter table tasks add v text`)
  expect(await feed.verify()).toMatchObject([{ code: 'rowsChanged', unseen: true }])
  expect(await changesBy(feed, () => feed.migrate())).toEqual(['invalidate tasks *'])
})

it('a view in the place of a table whose freed keys are looked up is not asked: the whole table is told', async () => {
  await bed().sql(
    `create table slots (id int primary key deferrable); insert into slots values (1);
     create function app.evil() returns boolean language plpgsql as $f$ begin raise exception 'run by %', current_user; end $f$`,
  )
  const other = feedOn(bed(), { slots: { tenant: null, key: 'id' } })
  await other.migrate()
  await bed().sql(
    `alter table slots rename to slots_real; create view slots as select 1 as id where app.evil(); grant select on slots to public`,
  )
  expect(await changesOf(bed(), other, 'update slots_real set id = 7')).toEqual(['invalidate slots *'])
})
