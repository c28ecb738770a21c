import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture, type Declaration, feedOn } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { byRegion, regions } from './partitions.ts'

/** Partitioned tables that cannot be captured, and the error that says why and what to do. */
export function partitionRefusals(bed: () => Bed): void {
  describe('refused', () => {
    beforeEach(() => bed().reset())

    const refused = async (ddl: string, tables: Record<string, Declaration>, refusal: object): Promise<void> => {
      await bed().sql(ddl)
      const feed = feedOn(bed(), tables)
      await expect(feed.migrate()).rejects.toMatchObject({ category: 'configuration', ...refusal })
      expect(await bed().sql(`select from pg_trigger where not tgisinternal`)).toEqual([])
      const { code, table } = refusal as { readonly code: string; readonly table: string }
      expect(await feed.verify()).toMatchObject([{ code, table, unseen: false }])
    }
    const because = (why: string): object => ({
      code: 'unsupportedTable',
      table: 't',
      message: expect.stringContaining(why),
    })

    it('a partition, with the remedy to declare its parent', async () => {
      for (const table of ['tb', 'tm', 'tm_n']) {
        await bed().reset()
        await refused(regions, { [table]: byRegion.t }, { ...because('declare the partitioned table'), table })
      }
    })

    it('an unlogged partition, at any depth', async () => {
      const unlogged = `create unlogged table tu partition of tm default`
      await refused(`${regions}; ${unlogged}`, byRegion, because('"tu"'))
      await bed().sql(`alter table tu set logged`)
      await feedOn(bed(), byRegion).migrate()
    })

    it('a partition that becomes unlogged later: verify() finds it, migrate() refuses, and it is captured all the while', async () => {
      const feed = await capture(bed(), regions, byRegion)
      await bed().sql('alter table tb set unlogged')
      expect(await feed.verify()).toMatchObject([
        { code: 'unsupportedTable', problem: expect.stringContaining('set logged') },
      ])
      await expect(feed.migrate()).rejects.toMatchObject(because('"tb"'))
      expect(await changesOf(bed(), feed, `insert into t values (1, 'b', 'acme')`)).toEqual([
        'create t ["1","b"] @acme',
      ])
      await bed().sql('alter table tb set logged')
      expect(await feed.verify()).toEqual([])
    })

    it('a foreign partition', async () => {
      await bed().sql(`create foreign data wrapper nowhere; create server nowhere foreign data wrapper nowhere`)
      try {
        await refused(
          `create table t (id int not null, region text not null, tenant text not null) partition by list (region); create foreign table tf partition of t for values in ('f') server nowhere`,
          { t: { tenant: 'tenant', key: ['id', 'region'] } },
          because('foreign table "tf"'),
        )
      } finally {
        await bed().sql('drop foreign data wrapper nowhere cascade')
      }
    })

    it('a temporary partitioned table, which other sessions do not even see', async () => {
      await using _session = await bed().session({
        setup: `create temporary table t (id int, region text, tenant text not null, primary key (id, region)) partition by list (region); create temporary table ta partition of t for values in ('a')`,
      })
      const why = bed().backend === 'pglite' ? 'is temporary' : 'does not exist'
      await expect(feedOn(bed(), { t: { tenant: 'tenant', key: ['id', 'region'] } }).migrate()).rejects.toMatchObject(
        because(why),
      )
      if (bed().backend === 'pglite') await bed().sql('drop table pg_temp.t')
    })

    it('an inheritance parent, and a child', async () => {
      const family = `create table t (id int primary key, tenant text not null); create table child (primary key (id)) inherits (t)`
      await refused(family, { t: { tenant: 'tenant', key: 'id' } }, because('inheritance'))
      await bed().reset()
      await refused(family, { child: { tenant: 'tenant', key: 'id' } }, { ...because('inheritance'), table: 'child' })
    })

    it('a unique index that is not valid, because a partition lacks it yet', async () => {
      await refused(
        `create table t (id int not null, region text not null, tenant text not null) partition by list (region); create table ta partition of t for values in ('a');
         create unique index t_key on only t (id, region)`,
        { t: { tenant: 'tenant', key: ['id', 'region'] } },
        {
          code: 'unsupportedColumn',
          table: 't',
          column: 'id, region',
          message: expect.stringContaining('unique index'),
        },
      )
      await bed().sql('create unique index ta_key on ta (id, region); alter index t_key attach partition ta_key')
      expect(await feedOn(bed(), { t: { tenant: 'tenant', key: ['id', 'region'] } }).migrate()).toMatchObject({
        installed: ['t'],
      })
    })

    it('statement triggers, where they are declared: a write to a partition would pass them by', async () => {
      await refused(regions, { t: { ...byRegion.t, capture: 'statement' } }, because('because it is partitioned'))
    })
  })
}
