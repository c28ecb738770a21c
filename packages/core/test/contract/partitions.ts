import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, changesSince, entriesOf, now } from '../support/changes.ts'

/** Lists by region: a, b (columns in another order, one dropped), m divided further, and the default. */
export const regions = `create table t (id int, region text, tenant text not null, v text, primary key (id, region)) partition by list (region);
  create table ta partition of t for values in ('a');
  create table tb (gone int, v text, region text not null, id int not null, tenant text not null); alter table tb drop column gone;
  alter table t attach partition tb for values in ('b');
  create table tm partition of t for values in ('m', 'n') partition by list (region); create table tm_m partition of tm for values in ('m');
  create table tm_n (region text not null, tenant text not null, id int not null, v text); alter table tm attach partition tm_n for values in ('n');
  create table td partition of t default`

export const byRegion = { t: { tenant: 'tenant', key: ['id', 'region'], scopes: ['v'] } } as const

/** Writes to a partitioned table: named by the parent, whichever partition is written (docs/capture.md, "Partitions"). */
export function partitions(bed: () => Bed): void {
  describe('a partitioned table', () => {
    beforeEach(() => bed().reset())

    describe('by region', () => {
      let feed: AnyFeed
      beforeEach(async () => {
        feed = await capture(bed(), regions, byRegion)
      })

      it.each([
        ['a', 'ta', 'ta'],
        ['b', 'tb', 'tb'],
        ['m', 'tm_m', 'tm'],
        ['n', 'tm_n', 'tm'],
        ['somewhere', 'td', 'td'],
      ])(
        'region %s: written through the parent, the leaf %s and the table above the leaf',
        async (region, leaf, above) => {
          const key = `t ["1","${region}"] @acme`
          for (const table of ['t', leaf, above]) {
            expect(
              await changesOf(
                bed(),
                feed,
                `insert into ${table} (id, region, tenant) values (1, '${region}', 'acme')`,
                `update ${table} set v = v`,
                `update ${table} set v = 'x' where id = 1`,
                `update ${table} set v = 'x'`,
                `delete from ${table} where id = 1`,
              ),
              table,
            ).toEqual([`create ${key}`, `delete ${key}`, `create ${key}`, `delete ${key}`])
          }
        },
      )

      it('statements over rows of all partitions tell each row once, with its scopes', async () => {
        const rows = `(1, 'a', 'acme', 'x'), (1, 'b', 'acme', 'x'), (1, 'm', 'bolt', 'x'), (1, 'n', 'bolt', 'y'), (1, 'q', 'bolt', null)`
        const all = ['["1","a"]', '["1","b"]', '["1","m"]', '["1","n"]', '["1","q"]']
        const inserted = await entriesOf(bed(), `insert into t values ${rows}`)
        expect(inserted.map(({ op, keys, scopes, tenant }) => [op, keys?.[0], scopes?.[0], tenant])).toEqual([
          ['c', all[0], 'x', 'acme'],
          ['c', all[1], 'x', 'acme'],
          ['c', all[2], 'x', 'bolt'],
          ['c', all[3], 'y', 'bolt'],
          ['c', all[4], null, 'bolt'],
        ])
        expect(await changesOf(bed(), feed, `update t set v = v`)).toEqual([])
        // A scope value that changes is a delete there and a create here; one that stays is an update.
        await bed().sql('alter table t add column other int')
        const updated = await changesOf(bed(), feed, `update t set other = 1`)
        expect(updated.toSorted()).toEqual(all.map((key, i) => `update t ${key} @${i < 2 ? 'acme' : 'bolt'}`))
        expect(await changesOf(bed(), feed, `update t set other = 1`)).toEqual([])
        expect((await changesOf(bed(), feed, `delete from t`)).toSorted()).toEqual(
          all.map((key, i) => `delete t ${key} @${i < 2 ? 'acme' : 'bolt'}`),
        )
      })

      it('columns added and dropped later are followed, also by sessions that have written before', async () => {
        await using session = await bed().session()
        const on = { ...bed(), sql: (text: string) => session.sql(text) }
        await session.sql(
          `insert into t values (1, 'a', 'acme'), (1, 'b', 'acme'); update t set tenant = 'bolt'; update t set tenant = 'acme'`,
        )
        const both = ['update t ["1","a"] @acme', 'update t ["1","b"] @acme']
        expect(await changesOf(on, feed, `alter table t add fresh text`, `update t set fresh = 'x'`)).toEqual(both)
        expect(await changesOf(on, feed, `update t set fresh = 'x'`)).toEqual([])
        expect(
          await changesOf(
            on,
            feed,
            `alter table t add late int default 7`,
            `update t set late = 7`,
            `update t set late = 8`,
          ),
        ).toEqual(both)
        expect(
          await changesOf(on, feed, `alter table t drop fresh`, `update t set late = 8`, `update tb set late = 9`),
        ).toEqual(['update t ["1","b"] @acme'])
      })

      it('TRUNCATE of a leaf, of a divided partition, of the parent, and of several tells the table as a whole', async () => {
        for (const tables of ['ta', 'tm_n', 'tm', 'td', 't', 'ta, tb']) {
          const told = await changesOf(bed(), feed, `truncate ${tables}`)
          expect(new Set(told), tables).toEqual(new Set(['invalidate t *']))
        }
      })

      it('COPY into the parent and into a partition', async () => {
        const since = await now(feed)
        await bed().copyIn('t (id, region, tenant)', `1\ta\tacme\n2\tb\tacme\n3\tn\tbolt\n`)
        await bed().copyIn('tb (id, region, tenant)', `4\tb\tbolt\n`)
        expect(await changesSince(feed, since)).toEqual([
          'create t ["1","a"] @acme',
          'create t ["2","b"] @acme',
          'create t ["3","n"] @bolt',
          'create t ["4","b"] @bolt',
        ])
      })

      it('writes of the replica role', async () => {
        await using session = await bed().session({ setup: 'set session_replication_role = replica' })
        const on = { ...bed(), sql: (text: string) => session.sql(text) }
        for (const table of ['t', 'tb', 'tm_n']) {
          const region = table === 't' ? 'a' : table.at(-1)
          const key = `t ["1","${region}"] @acme`
          expect(
            await changesOf(
              on,
              feed,
              `insert into ${table} (id, region, tenant) values (1, '${region}', 'acme')`,
              `update ${table} set tenant = 'bolt' where id = 1`,
              `delete from ${table}`,
            ),
          ).toEqual([
            `create ${key}`,
            `delete ${key}`,
            `create ${key.replace('acme', 'bolt')}`,
            `delete ${key.replace('acme', 'bolt')}`,
          ])
          expect(new Set(await changesOf(on, feed, `truncate ${table}`))).toEqual(new Set(['invalidate t *']))
        }
      })

      it('a statement that is rolled back, wholly or to a savepoint, tells nothing', async () => {
        expect(
          await changesOf(
            bed(),
            feed,
            `begin; insert into t values (1, 'a', 'acme'); savepoint s; insert into tb (id, region, tenant) values (1, 'b', 'acme'); rollback to s; commit`,
            `begin; truncate tm; delete from t; rollback`,
          ),
        ).toEqual(['create t ["1","a"] @acme'])
      })
    })

    it('a foreign key that cascades into it is told, in whichever partition', async () => {
      const feed = await capture(
        bed(),
        `create table parent (id int primary key, tenant text not null);
         create table child (id int, at date, tenant text not null, parent int references parent on delete cascade on update cascade, primary key (id, at)) partition by range (at);
         create table child_1 partition of child for values from ('2026-01-01') to ('2026-02-01'); create table child_2 partition of child for values from ('2026-02-01') to ('2026-03-01');
         insert into parent values (1, 'acme'), (2, 'acme'); insert into child values (1, '2026-01-05', 'acme', 1), (2, '2026-02-05', 'acme', 1), (3, '2026-02-06', 'acme', 2)`,
        { parent: { tenant: 'tenant', key: 'id' }, child: { tenant: 'tenant', key: ['id', 'at'] } },
      )
      expect(await changesOf(bed(), feed, `update parent set id = 9 where id = 1`)).toEqual([
        'delete parent 1 @acme',
        'create parent 9 @acme',
        'update child ["1","2026-01-05"] @acme',
        'update child ["2","2026-02-05"] @acme',
      ])
      expect(await changesOf(bed(), feed, `delete from parent where id = 9`, `delete from parent`)).toEqual([
        'delete parent 9 @acme',
        'delete child ["1","2026-01-05"] @acme',
        'delete child ["2","2026-02-05"] @acme',
        'delete parent 2 @acme',
        'delete child ["3","2026-02-06"] @acme',
      ])
    })

    it('a trigger of the app that stands on one partition only keeps its place behind capture', async () => {
      const feed = await capture(
        bed(),
        `${regions}; create function app.undo() returns trigger language plpgsql as $f$ begin delete from app.t where id = new.id; return null; end $f$;
         create trigger a_first after insert on tb for each row execute function app.undo()`,
        byRegion,
      )
      expect(
        await changesOf(bed(), feed, `insert into t values (1, 'a', 'acme'), (2, 'b', 'acme'), (3, 'b', 'acme')`),
      ).toEqual([
        'create t ["1","a"] @acme',
        'create t ["2","b"] @acme',
        'delete t ["2","b"] @acme',
        'create t ["3","b"] @acme',
        'delete t ["3","b"] @acme',
      ])
    })
  })
}
