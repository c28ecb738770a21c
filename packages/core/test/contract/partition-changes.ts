import { beforeEach, describe, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { announced, mended, quiet, startUp } from '../support/start-up.ts'
import { byRegion, regions } from './partitions.ts'

const columns = '(id int not null, region text not null, tenant text not null, v text)'

/** Partitions that come and go: what the next write does, what start-up does, and what readers are told (docs/capture.md, "Partitions"). */
export function partitionChanges(bed: () => Bed): void {
  describe('partitions that come and go', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), regions, byRegion)
      await bed().sql(`insert into t values (1, 'a', 'acme'), (1, 'b', 'acme')`)
    })
    const trigger = (operation: string): string => quoted(`!${bed().feedSchema}_${operation}`)
    /** Triggers of the feed, each as `table name enabled`. */
    const triggers = async (): Promise<unknown> =>
      (
        await bed().sql(
          `select format('%s %s %s', tgrelid::regclass, right(tgname, 1), tgenabled) as line from pg_trigger where tgname ~ '^!' order by 1`,
        )
      ).map(({ line }) => line)

    it('all carry three copies and a truncate trigger of their own, enabled always', async () => {
      const each = ['c', 'd', 't', 'u'].map((operation) => `${operation} A`)
      const tables = ['t', 'ta', 'tb', 'td', 'tm', 'tm_m', 'tm_n']
      expect(await triggers()).toEqual(
        [...tables.flatMap((table) => each.map((line) => `${table} ${line}`)), 't d D'].toSorted(),
      )
    })

    it.each([
      ['created', `create table tc partition of t for values in ('c')`, 'tc'],
      ['attached, empty', `create table tc ${columns}; alter table t attach partition tc for values in ('c')`, 'tc'],
      [
        'created below a divided one',
        `create table tm2 partition of t for values in ('c', 'o') partition by list (region); create table tc partition of tm2 for values in ('c')`,
        'tc',
      ],
    ])(
      'one that is %s is captured at once; start-up adds its truncate trigger and tells nobody',
      async (_, ddl, table) => {
        await bed().sql(ddl)
        expect(
          await changesOf(
            bed(),
            feed,
            `insert into t values (1, 'c', 'acme')`,
            `update ${table} set tenant = 'bolt'`,
            `delete from ${table}`,
          ),
        ).toEqual([
          'create t ["1","c"] @acme',
          'delete t ["1","c"] @acme',
          'create t ["1","c"] @bolt',
          'delete t ["1","c"] @bolt',
        ])
        expect(await startUp(bed(), feed)).toEqual(mended('t', 'trigger', 'truncate trigger of partition'))
        expect(await changesOf(bed(), feed, `truncate ${table}`)).toEqual(['invalidate t *'])
        expect(await startUp(bed(), feed)).toEqual(quiet)
      },
    )

    it('one that comes with rows: they were written unseen, so it is announced, once', async () => {
      await bed().sql(
        `create table tc ${columns}; insert into tc values (1, 'c', 'acme'); alter table t attach partition tc for values in ('c')`,
      )
      expect(await changesOf(bed(), feed, `update t set v = 'x' where region = 'c'`)).toEqual([
        'delete t ["1","c"] @acme',
        'create t ["1","c"] @acme',
      ])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "tc"'))
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('several that come with rows, and one that goes, are one announcement', async () => {
      for (const region of ['c', 'e', 'f'])
        await bed().sql(
          `create table t${region} ${columns}; insert into t${region} values (1, '${region}', 'acme'); alter table t attach partition t${region} for values in ('${region}')`,
        )
      await bed().sql('drop table tb')
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition'))
    })

    it('one that was filled and truncated before anyone looked: announced', async () => {
      await bed().sql(`create table tc partition of t for values in ('c'); insert into t values (1, 'c', 'acme')`)
      expect(await changesOf(bed(), feed, 'truncate tc')).toEqual([])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "tc"'))
      await bed().sql(
        `create table te partition of t for values in ('e', 'f') partition by list (region); create table te_e partition of te for values in ('e'); insert into t values (1, 'e', 'acme')`,
      )
      await bed().sql('truncate te')
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "te_e"'))
    })

    it('divided one that comes with rows further down: announced', async () => {
      await bed().sql(
        `create table tx ${columns} partition by list (region); create table tx_c partition of tx for values in ('c'); insert into tx values (1, 'c', 'acme');
         alter table t attach partition tx for values in ('c', 'o')`,
      )
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "tx_c"'))
      expect(await changesOf(bed(), feed, 'truncate tx_c')).toEqual(['invalidate t *'])
    })

    it.each([
      ['detached', 'alter table t detach partition tb'],
      ['dropped', 'drop table tb'],
      ['detached with all below it', 'alter table t detach partition tm'],
    ])('one that is %s: its rows left unseen, so it is announced', async (_, ddl) => {
      await bed().sql(ddl)
      expect(await changesOf(bed(), feed, `insert into t values (2, 'a', 'acme')`)).toEqual([
        'create t ["2","a"] @acme',
      ])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'detached or dropped'))
    })

    it('a detached one is a table of its own: what is written to it is not told, and after start-up it carries nothing', async () => {
      await bed().sql('alter table t detach partition tb; alter table t detach partition tm')
      const writes = [
        `insert into tb (id, region, tenant) values (7, 'b', 'acme')`,
        `update tb set v = 'x'`,
        'delete from tb',
        `insert into tm values ('7', 'm', 'acme')`,
        'delete from tm_m',
      ]
      expect(await changesOf(bed(), feed, ...writes)).toEqual([])
      await feed.migrate()
      expect(await changesOf(bed(), feed, ...writes, 'truncate tb', 'truncate tm')).toEqual([])
      expect(JSON.stringify(await triggers())).not.toMatch(/t[bm]/)
    })

    it('a detached one that comes back was written to meanwhile: announced, whether or not anyone looked', async () => {
      await bed().sql(
        `alter table t detach partition tb; update tb set v = 'unseen'; alter table t attach partition tb for values in ('b')`,
      )
      expect(await changesOf(bed(), feed, `update tb set tenant = 'bolt'`)).toEqual([
        'delete t ["1","b"] @acme',
        'create t ["1","b"] @bolt',
      ])
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition'))
      await bed().sql('alter table t detach partition tb')
      await feed.migrate()
      await bed().sql(`update tb set v = 'again'; alter table t attach partition tb for values in ('b')`)
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "tb"'))
    })

    it.each([['before'], ['behind']])(
      'a detached one may be declared as a table of its own, %s the table it came from',
      async (place) => {
        await bed().sql('alter table t detach partition tb')
        const tb = { tb: byRegion.t }
        const both = feedOn(bed(), place === 'before' ? { ...tb, ...byRegion } : { ...byRegion, ...tb })
        expect((await both.migrate()).installed.toSorted()).toEqual(['t', 'tb'])
        expect(await both.verify()).toEqual([])
        expect(
          await changesOf(
            bed(),
            both,
            `insert into tb (id, region, tenant) values (7, 'b', 'acme')`,
            `delete from tb where id = 7`,
            'truncate tb',
            `insert into t values (7, 'a', 'acme')`,
          ),
        ).toEqual([
          'create tb ["7","b"] @acme',
          'delete tb ["7","b"] @acme',
          'invalidate tb *',
          'create t ["7","a"] @acme',
        ])
      },
    )

    it('a table that is captured itself cannot be attached before untrack(): nothing is told twice or lost', async () => {
      const both = feedOn(bed(), { ...byRegion, tc: byRegion.t })
      await bed().sql(`create table tc ${columns}; alter table tc add primary key (id, region)`)
      await both.migrate()
      await bed().sql(`insert into tc values (1, 'c', 'acme')`)
      const attach = `alter table t attach partition tc for values in ('c')`
      await expect(bed().sql(attach)).rejects.toMatchObject({
        code: '42710',
        message: expect.stringContaining(trigger('c').slice(1, -1)),
      })
      expect(await changesOf(bed(), both, `update tc set v = 'x'`)).toEqual([
        'delete tc ["1","c"] @acme',
        'create tc ["1","c"] @acme',
      ])
      await untrack(both, 'tc')
      await bed().sql(attach)
      expect(await startUp(bed(), feed)).toEqual(announced('t', 'rowsChanged', 'partition "tc"'))
      await expect(both.migrate()).rejects.toMatchObject({ code: 'unsupportedTable', table: 'tc' })
      expect(await changesOf(bed(), feed, `update tc set tenant = 'bolt'`)).toEqual([
        'delete t ["1","c"] @acme',
        'create t ["1","c"] @bolt',
      ])
    })
  })
}
