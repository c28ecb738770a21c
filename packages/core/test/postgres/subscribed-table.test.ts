import { expect, it } from 'vitest'
import { createFeed, UnsupportedTableError } from '../../src/index.ts'
import { openReadFeed } from '../read/support.ts'

it('a table that a logical subscription fills is refused, because its writes fire no statement triggers', async () => {
  await using at = await openReadFeed()
  const superuser = await at.session()
  await superuser('create table filled (id int primary key)')
  await superuser(
    `create subscription upstream connection 'dbname=nowhere' publication p with (connect = false, slot_name = none)`,
  )
  await superuser('set allow_system_table_mods = on')
  await superuser(
    `insert into pg_subscription_rel (srsubid, srrelid, srsubstate) select oid, 'filled'::regclass, 'r' from pg_subscription where subname = 'upstream' and subdbid = (select oid from pg_database where datname = current_database())`,
  )
  const db = at.db.withTables<{ filled: { id: number } }>()
  const feed = createFeed({ db, schema: 'filled_feed', tenancy: 'none', tables: { filled: { key: 'id' } } })
  await expect(feed.migrate()).rejects.toThrow(UnsupportedTableError)
  await superuser('drop subscription upstream')
  expect(await feed.migrate()).toMatchObject({ installed: ['filled'] })
})
