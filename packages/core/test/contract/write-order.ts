import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, type Declaration, feedOn } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'

const declared = { tenant: 'tenant', key: 'id' } as const satisfies Declaration
const ddl = `create table t (id int primary key, tenant text not null, v text);
  create function app.undo() returns trigger language plpgsql as $f$ begin if new.v = 'undo' then delete from app.t where id = new.id; end if; return null; end $f$`

/** In which order writes are told where triggers of the app write again, and where keys move about (docs/capture.md, "Order"). */
export function writeOrder(bed: () => Bed): void {
  describe('the level of capture decides the order', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), ddl, { t: declared })
    })

    it('in which nested writes are told', async () => {
      await bed().sql('create trigger app after insert or update on t for each row execute function app.undo()')
      await feed.migrate()
      const undone = [
        `insert into t values (1, 'acme', 'undo')`,
        `insert into t values (2, 'acme', null), (3, 'acme', 'undo')`,
        `update t set v = 'undo'`,
      ]
      expect(await changesOf(bed(), feed, ...undone)).toEqual([
        'create t 1 @acme',
        'delete t 1 @acme',
        'create t 2 @acme',
        'create t 3 @acme',
        'delete t 3 @acme',
        'update t 2 @acme',
        'delete t 2 @acme',
      ])
      const vouched = feedOn(bed(), { t: { ...declared, capture: 'statement' } })
      await vouched.migrate()
      expect(await changesOf(bed(), vouched, ...undone)).toEqual([
        'delete t 1 @acme',
        'create t 1 @acme',
        'delete t 3 @acme',
        'create t 2 @acme',
        'create t 3 @acme',
        'delete t 2 @acme',
        'update t 2 @acme',
      ])
    })

    it('of deferred constraint triggers: what they write is told after what set them off', async () => {
      await bed().sql(
        'create constraint trigger app after insert or update on t deferrable initially deferred for each row execute function app.undo()',
      )
      await feed.migrate()
      expect(
        await changesOf(
          bed(),
          feed,
          `begin; insert into t values (1, 'acme', 'undo'); insert into t values (2, 'acme'); commit`,
        ),
      ).toEqual(['create t 1 @acme', 'create t 2 @acme', 'delete t 1 @acme'])
    })
  })

  describe('row triggers', () => {
    beforeEach(() => bed().reset())
    const byRow = { t: { tenant: 'tenant', key: 'id', scopes: ['scope'], capture: 'row' } } as const

    it('tell each key as what it is after a statement that moves keys about', async () => {
      const feed = await capture(
        bed(),
        `create table t (id int primary key deferrable, tenant text not null, scope int); insert into t select g, 'acme', 0 from generate_series(1, 3) g`,
        byRow,
      )
      /** The last word on each key of each tenant. */
      const last = async (statement: string): Promise<string[]> => {
        const words = (await changesOf(bed(), feed, statement)).map((line) => line.split(' t ') as [string, string])
        return [...new Map(words.map(([operation, key]) => [key, operation]))]
          .map(([key, word]) => `${key} ${word}`)
          .toSorted()
      }
      expect(await last(`update t set id = id + 1`)).toEqual([
        '1 @acme delete',
        '2 @acme create',
        '3 @acme create',
        '4 @acme create',
      ])
      expect(await last(`update t set id = 6 - id`)).toEqual(['2 @acme create', '4 @acme create'])
      expect(await last(`update t set id = id + 1, tenant = 'bolt' where id > 2`)).toEqual([
        '3 @acme delete',
        '4 @acme delete',
        '4 @bolt create',
        '5 @bolt create',
      ])
      expect(await last(`update t set scope = 1 where id = 2`)).toEqual(['2 @acme create'])
    })

    it('follow virtual generated columns beside the tracked ones', async () => {
      const table = `create table t (id int primary key, tenant text not null, scope int, twice int generated always as (id * 2) virtual)`
      if (bed().major < 18) return await expect(bed().sql(table)).rejects.toThrow(/syntax error/)
      const feed = await capture(bed(), table, byRow)
      expect(
        await changesOf(
          bed(),
          feed,
          `insert into t values (1, 'acme', 1)`,
          `update t set scope = scope`,
          `update t set id = 2`,
          `alter table t add w int generated always as (id + 1) virtual`,
          `alter table t add x int`,
          `update t set x = 1`,
          `update t set x = 1`,
          `delete from t`,
        ),
      ).toEqual(['create t 1 @acme', 'delete t 1 @acme', 'create t 2 @acme', 'update t 2 @acme', 'delete t 2 @acme'])
    })
  })
}
