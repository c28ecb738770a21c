import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, type Declaration, feedOn } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { mended, quiet, type StartUp, startUp } from '../support/start-up.ts'

const declared = { tenant: 'tenant', key: 'id' } as const satisfies Declaration
const ddl = `create table t (id int primary key, tenant text not null, v text, parent int references t on delete cascade);
  create function app.nothing() returns trigger language plpgsql as 'begin return null; end';
  create function app.undo() returns trigger language plpgsql as $f$ begin if new.v = 'undo' then delete from app.t where id = new.id; end if; return null; end $f$`

/** Which triggers capture a table, and what they tell (docs/capture.md, "Row triggers"). */
export function levels(bed: () => Bed): void {
  describe('the level of capture', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), ddl, { t: declared })
    })
    /** The capturing triggers of a table, and their identities. */
    const triggers = async (): Promise<{ readonly level: string; readonly oids: unknown }> => {
      const rows = await bed().sql(
        `select tgname, oid::text, tgtype & 1 as row from pg_trigger where tgrelid = 't'::regclass and tgname ~ '^!${bed().feedSchema}_[cud]$' order by tgname`,
      )
      const kinds = new Set(rows.map(({ row }) => row))
      expect([rows.length, kinds.size]).toEqual([3, 1])
      return { level: kinds.has(1) ? 'row' : 'statement', oids: rows.map(({ oid }) => oid) }
    }
    const toRow = (why: string): StartUp => mended('t', 'level', `needs row triggers, because ${why}`)
    const back = mended('t', 'level', 'no longer needs row triggers')

    it('is the statement, also where foreign keys cascade within the table', async () => {
      expect((await triggers()).level).toBe('statement')
      expect(
        (
          await changesOf(
            bed(),
            feed,
            `insert into t values (1, 'acme', null, null), (2, 'acme', null, 1), (3, 'acme', null, 2)`,
            'delete from t where id = 1',
          )
        ).toSorted(),
      ).toEqual([
        'create t 1 @acme',
        'create t 2 @acme',
        'create t 3 @acme',
        'delete t 1 @acme',
        'delete t 2 @acme',
        'delete t 3 @acme',
      ])
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it.each([
      ['for each row', `create trigger app after insert on t for each row execute function app.nothing()`],
      [
        'with a condition',
        `create trigger app after update on t for each row when (new.v = 'x') execute function app.nothing()`,
      ],
      [
        'with transition tables',
        `create trigger app after delete on t referencing old table as o for each row execute function app.nothing()`,
      ],
      [
        'that is a constraint',
        `create constraint trigger app after insert on t deferrable initially deferred for each row execute function app.nothing()`,
      ],
      [
        'that fires always',
        `create trigger app after insert on t for each row execute function app.nothing(); alter table t enable always trigger app`,
      ],
      [
        'that fires for replicas',
        `create trigger app after insert on t for each row execute function app.nothing(); alter table t enable replica trigger app`,
      ],
    ])(
      'becomes the row with an AFTER trigger of the app %s, and the statement again without it',
      async (_, trigger) => {
        const before = await triggers()
        await bed().sql(trigger)
        expect(await startUp(bed(), feed)).toEqual(toRow('trigger "app"'))
        // In place: had a trigger been dropped, readers of the table would have been locked out.
        expect(await triggers()).toEqual({ level: 'row', oids: before.oids })
        expect(
          await changesOf(
            bed(),
            feed,
            `insert into t values (1, 'acme')`,
            `update t set v = v`,
            `update t set v = 'x'`,
            'delete from t',
          ),
        ).toEqual(['create t 1 @acme', 'update t 1 @acme', 'delete t 1 @acme'])
        await bed().sql('alter table t disable trigger app')
        expect(await startUp(bed(), feed)).toEqual(back)
        expect(await triggers()).toEqual(before)
        await bed().sql('alter table t enable trigger app')
        expect(await startUp(bed(), feed)).toEqual(toRow('trigger "app"'))
        await bed().sql('drop trigger app on t')
        expect(await startUp(bed(), feed)).toEqual(back)
        expect(await triggers()).toEqual(before)
      },
    )

    it.each([
      ['before each row', `create trigger app before insert on t for each row execute function app.nothing()`],
      [
        'after each statement',
        `create trigger app after insert on t for each statement execute function app.nothing()`,
      ],
      [
        'after each row, disabled',
        `create trigger app after insert on t for each row execute function app.nothing(); alter table t disable trigger app`,
      ],
      [
        'after each row, on another table',
        `create table u (id int); create trigger app after insert on u for each row execute function app.nothing()`,
      ],
      ['after TRUNCATE', `create trigger app after truncate on t for each statement execute function app.nothing()`],
    ])('stays with a trigger of the app %s', async (_, trigger) => {
      await bed().sql(trigger)
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect((await triggers()).level).toBe('statement')
    })

    it("of one feed does not depend on another feed's triggers", async () => {
      const other = feedOn(bed(), { t: { ...declared, capture: 'row' } }, { schema: 'another "feed"' })
      try {
        await other.migrate()
        expect(await startUp(bed(), feed)).toEqual(quiet)
        expect((await triggers()).level).toBe('statement')
        const writes = [`insert into t values (1, 'acme')`, `update t set v = 'x'`, `delete from t`]
        const told = ['create t 1 @acme', 'update t 1 @acme', 'delete t 1 @acme']
        expect(await changesOf(bed(), feed, ...writes)).toEqual(told)
        expect(await changesOf(bed(), other, ...writes)).toEqual(told)
        expect(await other.verify()).toEqual([])
      } finally {
        await bed().sql('drop schema "another ""feed""" cascade')
      }
      // But a trigger that only calls itself so is the app's.
      await bed().sql('create trigger "!another_c" after insert on t for each row execute function app.nothing()')
      expect(await startUp(bed(), feed)).toEqual(toRow('trigger "!another_c"'))
    })

    it('can be declared, and left to the table again', async () => {
      const byRow = feedOn(bed(), { t: { ...declared, capture: 'row' } })
      expect(await startUp(bed(), byRow)).toEqual(toRow('row triggers are declared'))
      expect((await triggers()).level).toBe('row')
      expect(await startUp(bed(), feed)).toEqual(back)
      const byStatement = feedOn(bed(), { t: { ...declared, capture: 'statement' } })
      expect(await startUp(bed(), byStatement)).toEqual(quiet)
      await bed().sql('create trigger app after insert on t for each row execute function app.undo()')
      expect(await startUp(bed(), byStatement)).toEqual(quiet)
      expect(await startUp(bed(), feed)).toEqual(toRow('trigger "app"'))
      expect(await startUp(bed(), byStatement)).toEqual(back)
    })

    it('that is wrong is harmless, but a trigger that is missing at the same time is not', async () => {
      await bed().sql(
        `create trigger app after insert on t for each row execute function app.nothing(); drop trigger "!${bed().feedSchema}_d" on t`,
      )
      expect(await startUp(bed(), feed)).toMatchObject({
        findings: [{ code: 'trigger', unseen: true }],
        told: ['invalidate t'],
      })
      expect((await triggers()).level).toBe('row')
    })
  })
}
