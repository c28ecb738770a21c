import { afterAll, beforeAll, expect, it } from 'vitest'
import { capture } from '../support/bed.ts'
import { changesSince, now } from '../support/changes.ts'
import { type Connected, openPostgres, type PostgresBed } from '../support/postgres-bed.ts'
import { type TestRole, withRole } from '../support/roles.ts'

// B11: the capture trigger runs with the writer's rights: the write of a plain role fails, row security hides rows, or a decoy is written.

let bed: PostgresBed
beforeAll(async () => {
  bed = await openPostgres()
  await bed.reset()
})
afterAll(() => bed.close())

function loggedIn(role: TestRole, searchPath: string): Connected {
  const url = new URL(bed.url)
  url.username = role.name
  url.password = role.password
  return bed.connect({ url: url.href, settings: `-c search_path=${searchPath}` })
}

it('captures a plain role behind row security, and one with a decoy on its path', async () => {
  const feed = await capture(
    bed,
    `create table todo (id int primary key, tenant_id text not null, v int); alter table todo enable row level security;
     create policy own on todo using (tenant_id = current_setting('app.tenant', true)) with check (true)`,
    { todo: { tenant: 'tenant_id', key: 'id' } },
  )
  await using app = await withRole(bed, { app: 'usage', todo: 'select, insert, update, delete' })
  await using other = await withRole(bed, { app: 'usage', todo: 'select, insert, update, delete' })
  await bed.sql(
    `create schema decoy authorization ${other.name}; create schema tidemark_decoy authorization ${other.name}`,
  )
  const since = await now(feed)

  {
    await using first = loggedIn(app, 'app')
    await first.pool.query(`insert into todo values (1, 'acme')`)
    for (const text of [
      'select * from tidemark.log',
      `insert into tidemark.log (tbl, op, n, tenant, keys) values (1, 'c', 1, 'rival', '{1}')`,
      'update tidemark.log set n = 1',
      'delete from tidemark.log',
    ]) {
      await expect(first.pool.query(text), text).rejects.toMatchObject({ code: '42501' })
    }
  }
  {
    await using second = loggedIn(other, 'decoy,tidemark_decoy,app,pg_catalog')
    // Open to everyone, or whoever runs the trigger would pass them by.
    for (const schema of ['decoy', 'tidemark_decoy'])
      await second.pool.query(
        `create table ${schema}.log (tbl int, op text, n int, tenant text, scopes text[], keys text[]);
         grant usage on schema ${schema} to public; grant all on ${schema}.log to public`,
      )
    await second.pool.query(`create table decoy.tidemark_n (id int, tenant_id text, v int)`)
    await second.pool.query(`insert into todo values (2, 'bolt')`)
    for (const schema of ['decoy', 'tidemark_decoy'])
      expect((await second.pool.query(`select * from ${schema}.log`)).rows).toEqual([])
  }
  expect(await changesSince(feed, since)).toEqual(['create todo 1 @acme', 'create todo 2 @bolt'])
  await bed.sql('drop schema decoy, tidemark_decoy cascade')
})
