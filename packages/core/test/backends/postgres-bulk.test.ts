import { beforeEach, describe, expect, it } from 'vitest'
import { bulk } from '../contract/bulk.ts'
import { capture } from '../support/bed.ts'
import { entriesOf } from '../support/changes.ts'
import { type Contract, onPostgres } from '../support/contract.ts'
import type { PostgresBed } from '../support/postgres-bed.ts'

const veryLarge: Contract<PostgresBed> = (bed) => {
  describe('very large statements', () => {
    beforeEach(() => bed().reset())

    it('200,000 rows of 300 tenants make 300 entries', async () => {
      await capture(bed(), 'create table tasks (id int primary key, tenant_id int not null, v int)', {
        tasks: { tenant: 'tenant_id', key: 'id' },
      })
      const inserted = await entriesOf(bed(), 'insert into tasks select g, g % 300 from generate_series(1, 200000) g')
      expect(inserted.length).toBe(300)
      expect(inserted.reduce((sum, { n }) => sum + n, 0)).toBe(200_000)
      expect(Math.max(...inserted.map(({ n }) => n))).toBeLessThanOrEqual(1000)
      const updated = await entriesOf(bed(), 'update tasks set v = 1 where id <= 20000')
      expect(updated.length).toBe(300)
      expect(updated.reduce((sum, { n }) => sum + n, 0)).toBe(20_000)
    })

    it('a session whose first update touched one row joins thousands later without a nested loop', async () => {
      await capture(
        bed(),
        `create table tasks (id int primary key, tenant_id text not null, v int); insert into tasks select g, 'acme', 0 from generate_series(1, 4000) g`,
        {
          tasks: { tenant: 'tenant_id', key: 'id' },
        },
      )
      // The planner's own word: auto_explain reports the plan of every nested statement to this client.
      await using session = await bed().session({
        setup: `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_timing = off; set auto_explain.log_level = notice`,
      })
      for (let i = 1; i <= 12; i++) await session.sql(`update tasks set v = ${i} where id = ${i}`)
      session.notices.length = 0
      await session.sql('update tasks set v = 100')
      const joins = session.notices.filter((text) => /Full Join/.test(text))
      expect(joins.length).toBe(1)
      expect(joins[0]).toMatch(/(Hash|Merge) Full Join/)
      const loops = session.notices.flatMap((text) => [
        ...text.matchAll(/Nested Loop.*?actual rows=([\d.]+) loops=(\d+)/g),
      ])
      expect(loops.map(([, rows]) => Number(rows))).toEqual([])
    })

    it('a statement whose rows do not fit into temp_file_limit fails as a whole', async () => {
      await capture(bed(), 'create table tasks (id int primary key, tenant_id text not null, v text)', {
        tasks: { tenant: 'tenant_id', key: 'id' },
      })
      await using session = await bed().session({ setup: `set work_mem = '64kB'; set temp_file_limit = '500kB'` })
      const insert = `insert into tasks select g, 'acme', repeat('x', 200) from generate_series(1, 5000) g`
      await expect(session.sql(insert)).rejects.toMatchObject({ code: '53400' })
      expect(await entriesOf({ ...bed(), sql: session.sql }, `select 1`)).toEqual([])
      expect(await bed().sql('select count(*)::int as n from tasks')).toEqual([{ n: 0 }])
      await session.sql('reset temp_file_limit')
      expect((await entriesOf({ ...bed(), sql: session.sql }, insert)).length).toBe(5)
    })
  })
}

onPostgres([bulk, veryLarge])
