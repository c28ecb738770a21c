import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, entriesOf } from '../support/changes.ts'
import { byRegion, regions } from './partitions.ts'

/** Rows that move from one partition to another: Postgres deletes and inserts them, readers see a key that goes and one that comes. */
export function partitionMoves(bed: () => Bed): void {
  describe('a row that moves across partitions', () => {
    beforeEach(() => bed().reset())

    describe('by region', () => {
      let feed: AnyFeed
      beforeEach(async () => {
        feed = await capture(
          bed(),
          `${regions}; insert into t values (1, 'a', 'acme'), (1, 'b', 'acme'), (2, 'a', 'acme'), (2, 'm', 'acme')`,
          byRegion,
        )
      })

      it('is deleted under its old key and created under its new one', async () => {
        expect(
          await changesOf(
            bed(),
            feed,
            `update t set region = 'n' where id = 1 and region = 'a'`,
            `update tm set region = 'n' where region = 'm'`,
            `update t set region = 'far', tenant = 'bolt' where region = 'b'`,
          ),
        ).toEqual([
          'delete t ["1","a"] @acme',
          'create t ["1","n"] @acme',
          'delete t ["2","m"] @acme',
          'create t ["2","n"] @acme',
          'delete t ["1","b"] @acme',
          'create t ["1","far"] @bolt',
        ])
      })

      it('into a key that the same statement frees: that key ends as present', async () => {
        // Partition a is emptied before b's rows come to it.
        const told = await changesOf(
          bed(),
          feed,
          `update t set region = case region when 'a' then 'z' else 'a' end where id = 1`,
        )
        // A key that is checked at once is free before it is taken, so its delete is told before its create.
        expect(told).toEqual([
          'delete t ["1","a"] @acme',
          'create t ["1","z"] @acme',
          'delete t ["1","b"] @acme',
          'create t ["1","a"] @acme',
        ])
      })

      it('into the key of a row of another tenant that the same statement moves away: each tenant is told its own', async () => {
        await bed().sql(`update t set tenant = 'bolt' where id = 1 and region = 'b'`)
        expect(
          await changesOf(bed(), feed, `update t set region = case region when 'a' then 'z' else 'a' end where id = 1`),
        ).toEqual([
          'delete t ["1","a"] @acme',
          'create t ["1","z"] @acme',
          'delete t ["1","b"] @bolt',
          'create t ["1","a"] @bolt',
        ])
      })

      it('by MERGE, beside rows that come, go and change', async () => {
        const told = await changesOf(
          bed(),
          feed,
          `merge into t using (values (1, 'a', 'move'), (1, 'b', 'drop'), (2, 'a', 'change'), (9, 'b', 'come')) s(id, region, what)
           on t.id = s.id and t.region = s.region
           when matched and what = 'move' then update set region = 'n' when matched and what = 'drop' then delete
           when matched then update set v = 'x' when not matched then insert values (s.id, s.region, 'acme', null)`,
        )
        expect(told.toSorted()).toEqual([
          'create t ["1","n"] @acme',
          'create t ["2","a"] @acme',
          'create t ["9","b"] @acme',
          'delete t ["1","a"] @acme',
          'delete t ["1","b"] @acme',
          'delete t ["2","a"] @acme',
        ])
        const last = new Map(told.map((line) => [line.slice(line.indexOf('[')), line]))
        expect(last.get('["2","a"] @acme')).toBe('create t ["2","a"] @acme')
      })

      it('ON CONFLICT writes into the partition that the row belongs to', async () => {
        expect(
          await changesOf(
            bed(),
            feed,
            `insert into t values (1, 'a', 'bolt'), (5, 'm', 'bolt') on conflict (id, region) do update set tenant = excluded.tenant`,
            `insert into t values (1, 'a', 'acme') on conflict do nothing`,
          ),
        ).toEqual(['delete t ["1","a"] @acme', 'create t ["1","a"] @bolt', 'create t ["5","m"] @bolt'])
      })

      it('deleted and inserted again by one statement', async () => {
        const told = await changesOf(
          bed(),
          feed,
          `with gone as (delete from t where id = 1 returning id, tenant) insert into t select id + 10, 'far', tenant from gone limit 1`,
        )
        expect(told.toSorted()).toEqual([
          'create t ["11","far"] @acme',
          'delete t ["1","a"] @acme',
          'delete t ["1","b"] @acme',
        ])
      })
    })

    it('by a swap of deferrable keys: both keys end as present', async () => {
      const feed = await capture(
        bed(),
        `create table t (id int, region text, tenant text not null, v text, primary key (id, region) deferrable initially deferred) partition by list (region);
         create table ta partition of t for values in ('a'); create table tb partition of t for values in ('b'); insert into t values (1, 'a', 'acme', 'x'), (1, 'b', 'bolt', 'y'), (2, 'a', 'acme', 'p'), (2, 'b', 'acme', 'q')`,
        { t: { tenant: 'tenant', key: ['id', 'region'] } },
      )
      const swap = (id: number): string =>
        `update t set region = case region when 'a' then 'b' else 'a' end where id = ${id}`
      expect(await changesOf(bed(), feed, swap(1))).toEqual([
        'delete t ["1","a"] @acme',
        'create t ["1","b"] @acme',
        'delete t ["1","b"] @bolt',
        'create t ["1","a"] @bolt',
      ])
      expect((await changesOf(bed(), feed, swap(2))).toSorted()).toEqual([
        'create t ["2","a"] @acme',
        'create t ["2","b"] @acme',
      ])
      // One transaction, two statements: the first ends with the key twice.
      expect(
        await changesOf(
          bed(),
          feed,
          `begin; update t set region = 'b' where id = 2 and v = 'q'; delete from t where id = 2 and region = 'b' and v = 'p'; commit`,
        ),
      ).toEqual(['delete t ["2","a"] @acme', 'create t ["2","b"] @acme'])
    })

    it('with its tenant, where tenants have partitions of their own', async () => {
      await capture(
        bed(),
        `create table t (id int, tenant text, v text, primary key (tenant, id)) partition by list (tenant); create table t_acme partition of t for values in ('acme'); create table t_bolt partition of t for values in ('bolt'); insert into t values (1, 'acme'), (1, 'bolt')`,
        { t: { tenant: 'tenant', key: ['tenant', 'id'], scopes: ['v'] } },
      )
      expect(
        await entriesOf(
          bed(),
          `update t_acme set v = 'x'`,
          `update t set id = 2, tenant = 'bolt' where tenant = 'acme'`,
        ),
      ).toMatchObject([
        { op: 'd', tenant: 'acme', scopes: [null], keys: ['["acme","1"]'] },
        { op: 'c', tenant: 'acme', scopes: ['x'], keys: ['["acme","1"]'] },
        { op: 'd', tenant: 'acme', scopes: ['x'], keys: ['["acme","1"]'] },
        { op: 'c', tenant: 'bolt', scopes: ['x'], keys: ['["bolt","2"]'] },
      ])
    })

    it('takes the keys of foreign keys along', async () => {
      const feed = await capture(
        bed(),
        `${regions}; create table child (id int primary key, p int, r text, foreign key (p, r) references t on update cascade);
         insert into t values (1, 'a', 'acme'); insert into child values (1, 1, 'a')`,
        { ...byRegion, child: { tenant: null, key: 'id' } },
      )
      expect(await changesOf(bed(), feed, `update t set region = 'n'`)).toEqual([
        'delete t ["1","a"] @acme',
        'create t ["1","n"] @acme',
        'update child 1',
      ])
    })
  })
}
