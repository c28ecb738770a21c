import { beforeEach, expect, it } from 'vitest'
import { type AnyFeed, capture } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

// B58: a BEFORE trigger records an upsert several times and as an insert that never happened.

const bed = bedFrom(openPostgres)
let feed: AnyFeed
beforeEach(async () => {
  await bed().reset()
  feed = await capture(
    bed(),
    `create table t (id int primary key, org text not null, v int); insert into t values (1, 'acme', 1)`,
    { t: { tenant: 'org', key: 'id', scopes: ['v'] } },
  )
})

it('an upsert of an existing key is one update', async () => {
  expect(
    await changesOf(
      bed(),
      feed,
      `insert into t values (1, 'acme', 1) on conflict (id) do update set org = excluded.org || ''`,
    ),
  ).toEqual([])
  await bed().sql('alter table t add column note text')
  expect(
    await changesOf(
      bed(),
      feed,
      `insert into t values (1, 'acme', 1, 'n') on conflict (id) do update set note = excluded.note`,
    ),
  ).toEqual(['update t 1 @acme'])
})

it('DO NOTHING is nothing', async () => {
  expect(await changesOf(bed(), feed, `insert into t values (1, 'acme', 2) on conflict do nothing`)).toEqual([])
})

it('a MERGE that matches is one update', async () => {
  await bed().sql('alter table t add column note text')
  const merge = `merge into t using (values (1, 'n')) s(id, note) on t.id = s.id when matched then update set note = s.note when not matched then insert values (s.id, 'acme', 1, s.note)`
  expect(await changesOf(bed(), feed, merge)).toEqual(['update t 1 @acme'])
})

it('a BEFORE trigger that changes the row: the row as really stored, also through an upsert', async () => {
  await bed().sql(
    `create function f() returns trigger language plpgsql as $f$ begin new.org := upper(new.org); new.v := -new.v; return new; end $f$; create trigger before_all before insert or update on t for each row execute function f()`,
  )
  expect(await changesOf(bed(), feed, `insert into t values (2, 'bolt', 5)`)).toEqual(['create t 2 @BOLT'])
  // The trigger runs for the insert that does not happen and for the update that does.
  expect(await changesOf(bed(), feed, `insert into t values (2, 'x', 5) on conflict (id) do update set v = 9`)).toEqual(
    ['delete t 2 @BOLT', 'create t 2 @BOLT'],
  )
  expect(await bed().sql('select id, org, v from t where id = 2')).toEqual([{ id: 2, org: 'BOLT', v: -9 }])
})

it('a BEFORE trigger that cancels by returning NULL: nothing', async () => {
  await bed().sql(
    `create function f() returns trigger language plpgsql as $f$ begin return null; end $f$; create trigger before_all before insert or update or delete on t for each row execute function f()`,
  )
  expect(
    await changesOf(
      bed(),
      feed,
      `insert into t values (2, 'bolt', 5)`,
      `insert into t values (1, 'acme', 7) on conflict (id) do update set v = 7`,
      `update t set v = 9`,
      'delete from t',
    ),
  ).toEqual([])
})
