import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, type Declaration, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { announced, quiet, type StartUp, startUp } from '../support/start-up.ts'

const declared = { tenant: 'tenant', key: 'id', scopes: ['scope', 'm'] } as const satisfies Declaration
const ddl = `create type mood as enum ('sad', 'glad');
  create table t (id int primary key, tenant text not null, scope text, m mood, v text);
  insert into t values (1, 'acme', 's', 'sad'), (2, 'acme', 's', 'glad')`

/** DDL on the columns that capture reads: key, tenant and scopes (docs/capture.md, "Schema changes"). */
export function schemaChangesTracked(bed: () => Bed): void {
  describe('a schema change of a tracked column', () => {
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      feed = await capture(bed(), ddl, { t: declared })
    })
    const guard = (): string => quoted(`!${bed().feedSchema}_guard`)
    const changed = (problem: string): StartUp => announced('t', 'rowsChanged', problem)
    const refused = async (with_: AnyFeed, code: string, message: string): Promise<void> => {
      const before = await bed().sql(`select count(*) from ${quoted(bed().feedSchema)}.log`)
      await expect(with_.migrate()).rejects.toMatchObject({
        code,
        table: 't',
        message: expect.stringContaining(message),
      })
      expect(await with_.verify()).toMatchObject([
        { code, table: 't', problem: expect.stringContaining(message), unseen: false },
      ])
      expect(await bed().sql(`select count(*) from ${quoted(bed().feedSchema)}.log`)).toEqual(before)
    }

    const renames: readonly (readonly [string, string, Declaration])[] = [
      ['key', 'id', { ...declared, key: 'fresh' }],
      ['tenant', 'tenant', { ...declared, tenant: 'fresh' }],
      ['scope', 'scope', { ...declared, scopes: ['fresh', 'm'] }],
    ]
    it.each(renames)(
      'the %s renamed: the next write fails, and so does start-up; declared under its new name it is told, once',
      async (_, from, renamed) => {
        await bed().sql(`alter table t rename ${from} to fresh`)
        for (const write of [`insert into t values (9, 'acme')`, `update t set v = 'z'`, 'delete from t']) {
          await expect(bed().sql(write)).rejects.toMatchObject({
            code: '42703',
            where: expect.stringMatching(/PL\/pgSQL function .*c1_[cud]\(\)/),
          })
        }
        await refused(feed, 'unsupportedColumn', `column "${from}": was renamed to "fresh"`)
        const again = feedOn(bed(), { t: renamed })
        expect(await startUp(bed(), again)).toEqual(changed(`column "${from}" was renamed to "fresh"`))
        expect(
          await changesOf(
            bed(),
            again,
            `update t set v = 'z' where v is null and m = 'sad'`,
            `delete from t where m = 'glad'`,
          ),
        ).toEqual(['update t 1 @acme', 'delete t 2 @acme'])
        // The name may be given to another column now, and the guard stands with the old one.
        await bed().sql(`alter table t add ${from} text`)
        expect(await startUp(bed(), again)).toEqual(quiet)
        await expect(bed().sql('alter table t drop fresh')).rejects.toMatchObject({ code: '2BP01' })
      },
    )

    it('renamed there and back: nothing happened', async () => {
      await bed().sql('alter table t rename id to x; alter table t rename x to id')
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect(await changesOf(bed(), feed, 'delete from t where id = 1')).toEqual(['delete t 1 @acme'])
    })

    it('that swaps names with another is another: start-up refuses until that is declared', async () => {
      await bed().sql(
        `alter table t add code int; update t set code = id + 10; alter table t alter code set not null; alter table t add unique (code)`,
      )
      await feed.migrate()
      await bed().sql('alter table t rename id to x; alter table t rename code to id; alter table t rename x to code')
      await refused(feed, 'declarationConflict', 'another key')
      const again = feedOn(bed(), { t: { ...declared, key: 'code' } })
      expect(await startUp(bed(), again)).toEqual(changed('was renamed'))
      expect(await changesOf(bed(), again, `update t set v = 'z' where id = 11`)).toEqual(['update t 1 @acme'])
    })

    it.each(['id', 'tenant', 'scope'])('%s dropped: Postgres refuses and names the guard', async (column) => {
      await expect(bed().sql(`alter table t drop column ${column}`)).rejects.toMatchObject({
        code: '2BP01',
        detail: expect.stringContaining(guard().slice(1, -1)),
      })
      expect(await changesOf(bed(), feed, `update t set v = 'z' where id = 1`)).toEqual(['update t 1 @acme'])
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it.each(['id', 'tenant', 'scope'])(
      '%s dropped with cascade: the next write fails, and so does start-up',
      async (column) => {
        await bed().sql(`alter table t drop column ${column} cascade`)
        await expect(bed().sql(`update t set v = 'z'`)).rejects.toMatchObject({ code: '42703' })
        await refused(feed, 'unsupportedColumn', `column "${column}": there is no such column`)
      },
    )

    it('a scope dropped with cascade, and its declaration with it: told, since its entries say otherwise', async () => {
      await bed().sql('alter table t drop column scope cascade')
      const without = feedOn(bed(), { t: { ...declared, scopes: ['m'] } })
      expect(await startUp(bed(), without)).toEqual(announced('t', 'otherDeclaration', 'another declaration'))
      expect(await changesOf(bed(), without, `update t set v = 'z' where id = 1`)).toEqual(['update t 1 @acme'])
    })

    it.each([
      ['id', 'bigint'],
      ['tenant', 'varchar(9)'],
      ['scope', 'text collate "C"'],
      ['m', 'text using upper(m::text)'],
    ])('the type of %s changed to %s: Postgres refuses and names the guard', async (column, type) => {
      await expect(bed().sql(`alter table t alter ${column} type ${type}`)).rejects.toMatchObject({
        code: '0A000',
        detail: expect.stringContaining(guard().slice(1, -1)),
      })
      expect(await changesOf(bed(), feed, `update t set v = 'z' where id = 1`)).toEqual(['update t 1 @acme'])
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it.each([
      [
        'id',
        'bigint',
        `update t set id = 9007199254740993 where id = 1`,
        ['delete t 1 @acme', 'create t 9007199254740993 @acme'],
      ],
      ['tenant', 'varchar(9)', `update t set tenant = 'bolt' where id = 1`, ['delete t 1 @acme', 'create t 1 @bolt']],
      ['scope', 'int using 7', `update t set scope = 8 where id = 1`, ['delete t 1 @acme', 'create t 1 @acme']],
    ])(
      'the type of %s changed to %s without the guard: told, once, and guarded again',
      async (column, type, write, told) => {
        await bed().sql(`drop trigger ${guard()} on t; alter table t alter ${column} type ${type}`)
        expect(await changesOf(bed(), feed, `update t set v = 'z' where id = 2`)).toEqual(['update t 2 @acme'])
        expect(await startUp(bed(), feed)).toEqual(changed(`the type of column "${column}" was changed`))
        expect(await changesOf(bed(), feed, write)).toEqual(told)
        await expect(bed().sql(`alter table t drop ${column}`)).rejects.toMatchObject({ code: '2BP01' })
      },
    )

    it('a type without one text, or NOT NULL dropped: start-up refuses, writes go on', async () => {
      await bed().sql('alter table t alter tenant drop not null')
      await refused(feed, 'unsupportedColumn', 'column "tenant": may be null')
      await bed().sql(
        `alter table t alter tenant set not null; drop trigger ${guard()} on t; alter table t alter scope type float using 1`,
      )
      await refused(feed, 'unsupportedColumn', 'column "scope": its type float8')
      await bed().sql(`alter table t alter scope type text`)
      expect(await startUp(bed(), feed)).toMatchObject({ installed: ['t'] })
    })

    it('an enum label of a scope renamed: told, and the new label is what is recorded; a label added is not told', async () => {
      await bed().sql(`alter type mood add value 'mad'`)
      expect(await startUp(bed(), feed)).toEqual(quiet)
      await bed().sql(`alter type mood rename value 'sad' to 'blue'`)
      expect(await changesOf(bed(), feed, `update t set v = 'z' where id = 1`)).toEqual(['update t 1 @acme'])
      expect(await startUp(bed(), feed)).toEqual(changed('a label of the type of column "m" was renamed'))
      const [entry] = await bed().sql(
        `select scopes::text as scopes from ${quoted(bed().feedSchema)}.log order by id desc offset 1 limit 1`,
      )
      expect(entry).toEqual({ scopes: '{s,blue}' })
    })

    it('another key: start-up refuses until redeclare; then the former key column is free to go', async () => {
      await bed().sql(
        `alter table t add code uuid; update t set code = gen_random_uuid(); alter table t alter code set not null; alter table t add unique (code)`,
      )
      const again = feedOn(bed(), { t: { ...declared, key: 'code' } })
      await refused(again, 'declarationConflict', 'redeclare')
      await bed().sql(`update t set v = 'z' where id = 1`)
      expect(await again.migrate({ redeclare: ['t'] })).toEqual({ migrations: [], installed: ['t'] })
      expect(await startUp(bed(), again)).toEqual(quiet)
      await bed().sql('alter table t drop id')
      const [row] = await bed().sql(`select code::text from t where v = 'z'`)
      expect(await changesOf(bed(), again, `update t set v = 'y' where v = 'z'`)).toEqual([
        `update t ${String(row?.['code'])} @acme`,
      ])
      expect(await startUp(bed(), again)).toEqual(quiet)
    })

    it('the guard dropped, replaced or enabled: found and mended, nobody is told', async () => {
      for (const damage of [
        `drop trigger ${guard()} on t`,
        `alter table t enable trigger ${guard()}`,
        `alter table t enable always trigger ${guard()}`,
        `create or replace trigger ${guard()} after update of v on t for each statement execute function ${quoted(bed().feedSchema)}.guard(); alter table t disable trigger ${guard()}`,
      ]) {
        await bed().sql(damage)
        expect(
          await changesOf(
            bed(),
            feed,
            `update t set v = v || 'z'`,
            `update t set v = coalesce(v, '') || 'z', scope = scope where id = 1`,
          ),
        ).toEqual(['update t 1 @acme'])
        await bed().sql('update t set v = null')
        expect(await startUp(bed(), feed)).toMatchObject({
          findings: [{ code: 'guard', unseen: false }],
          installed: ['t'],
          told: [],
        })
        await expect(bed().sql('alter table t drop scope')).rejects.toMatchObject({ code: '2BP01' })
      }
    })

    it('DROP TABLE needs no cascade', async () => {
      await bed().sql('drop table t')
      expect(await feed.verify()).toMatchObject([{ code: 'unsupportedTable' }])
    })
  })
}
