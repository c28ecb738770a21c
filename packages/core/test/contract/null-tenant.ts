import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'

/** A tenant column that came to hold nulls (docs/capture.md, rule 16). */
export function nullTenant(bed: () => Bed): void {
  describe('a null tenant', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(bed(), `create table tasks (id int primary key, tenant_id text not null, v int)`, {
        tasks: { tenant: 'tenant_id', key: 'id' },
      })
      // Rows of before: written while the column was nullable and nobody looked.
      await bed().sql(
        `alter table tasks alter tenant_id drop not null, disable trigger all; insert into tasks values (1, null, 0), (2, null, 0), (3, 'acme', 0); alter table tasks enable trigger all`,
      )
    })
    const refusal = (): object => ({
      code: '23502',
      message: `tidemark feed ${bed().feedSchema}: table tasks was given a row whose tenant column tenant_id is null`,
      hint: expect.stringMatching(/Write a tenant.*NOT NULL.*tenant: null/),
    })

    it.each([
      ['one row', `insert into tasks values (9, null)`],
      ['one among many', `insert into tasks values (8, 'acme'), (9, null)`],
      ['by COPY-like bulk', `insert into tasks select g, nullif(g::text, '15') from generate_series(10, 20) g`],
      ['by taking a row its tenant', `update tasks set tenant_id = null where id = 3`],
      [
        'by MERGE',
        `merge into tasks using (values (9)) s(id) on false when not matched then insert values (9, null, 0)`,
      ],
    ])('fails the write: %s', async (_, write) => {
      await expect(bed().sql(write)).rejects.toMatchObject(refusal())
      expect(await bed().sql('select count(*)::int as n from tasks')).toEqual([{ n: 3 }])
    })

    it('a row of before can be deleted, unannounced, and given a tenant', async () => {
      expect(
        await changesOf(
          bed(),
          feed,
          `delete from tasks where id = 1`,
          `update tasks set tenant_id = 'bolt' where id = 2`,
        ),
      ).toEqual(['create tasks 2 @bolt'])
    })

    it('rows of before are passed over among others', async () => {
      expect((await changesOf(bed(), feed, `update tasks set tenant_id = 'bolt'`)).toSorted()).toEqual([
        'create tasks 1 @bolt',
        'create tasks 2 @bolt',
        'create tasks 3 @bolt',
        'delete tasks 3 @acme',
      ])
      await bed().sql(
        `alter table tasks disable trigger all; update tasks set tenant_id = null where id < 3; alter table tasks enable trigger all`,
      )
      expect(await changesOf(bed(), feed, `delete from tasks`)).toEqual(['delete tasks 3 @bolt'])
    })

    it('any other update of a row of before fails, so that nobody changes what nobody is told of', async () => {
      await expect(bed().sql(`update tasks set v = 1 where id = 1`)).rejects.toMatchObject(refusal())
      await expect(bed().sql(`update tasks set v = 1`)).rejects.toMatchObject(refusal())
      await expect(bed().sql(`update tasks set id = 11 where id = 1`)).rejects.toMatchObject(refusal())
    })

    it('an update that changes nothing of a row of before: only row triggers let it pass', async () => {
      for (const noOp of [`update tasks set v = 0 where id = 1`, `update tasks set v = v`]) {
        if (bed().level === 'row') {
          expect(await changesOf(bed(), feed, noOp)).toEqual([])
        } else {
          await expect(bed().sql(noOp)).rejects.toMatchObject(refusal())
        }
      }
    })

    it('verify() names the column before it happens', async () => {
      expect(await feed.verify()).toMatchObject([
        { table: 'tasks', problem: expect.stringContaining('"tenant_id": may be null: add NOT NULL') },
      ])
    })
  })
}
