import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'

/** [type, a value, another value that some kind of `=` calls equal or that has no `=` at all] */
const differing: readonly (readonly [string, string, string])[] = [
  ['json', `'{"a":1}'`, `'{"a": 1}'`],
  ['json', `'"\\u0000"'`, `'"\\u0000" '`],
  ['json[]', `array['{}'::json]`, `array['{ }'::json]`],
  ['jsonb', `'{"a":1.0}'`, `'{"a":1.00}'`],
  ['jsonpath', `'$.a'`, `'$.b'`],
  ['point', `'(0,0)'`, `'(0,1)'`],
  ['box', `'(1,1),(0,0)'`, `'(1,2),(0,0)'`],
  ['path', `'[(0,0),(1,0)]'`, `'[(0,0),(0,1)]'`],
  ['polygon', `'((0,0),(0,1),(1,1))'`, `'((0,0),(0,1),(1,0))'`],
  ['circle', `'<(0,0),1>'`, `'<(5,5),1>'`],
  ['lseg', `'[(0,0),(1,1)]'`, `'[(0,0),(1,2)]'`],
  ['numeric', `1.0`, `1.00`],
  ['float8', `0`, `'-0'`],
  ['interval', `'1 day'`, `'24 hours'`],
  ['public.citext', `'a'`, `'A'`],
  ['char(4)', `'a'`, `'b'`],
  ['text', `null`, `''`],
  ['int[]', `'{1,2}'`, `'[0:1]={1,2}'`],
  ['tstzrange', `'[2024-01-01,2024-01-02)'`, `'[2024-01-01,2024-01-02]'`],
  ['line', `'{1,-1,0}'`, `'{2,-2,0}'`],
  ['pg_snapshot', `'10:20:10'`, `'10:20:11'`],
  ['pair', `row(1, '{"a":1}')`, `row(1, '{"a": 1}')`],
  ['tsvector', `'a b'`, `'a:1 b'`],
]

/** The dirty check: whole rows, byte by byte (docs/capture.md, rules 4 and 5). */
export function captureNoOps(bed: () => Bed): void {
  describe('updates that change nothing', () => {
    beforeEach(() => bed().reset())
    const table = (type: string, value: string): string =>
      `create extension if not exists citext schema public; create type pair as (a int, b json); create table things (id int primary key, v ${type}); insert into things values (1, ${value}), (2, ${value})`
    const declared = { things: { tenant: null, key: 'id' } } as const

    it.each(differing)(
      '%s: writing the same value leaves nothing, another one is an update',
      async (type, value, other) => {
        const feed = await capture(bed(), table(type, value), declared)
        expect(
          await changesOf(
            bed(),
            feed,
            `update things set v = v where id = 1`,
            `update things set v = v`,
            `update things set v = ${value}`,
          ),
        ).toEqual([])
        expect(await changesOf(bed(), feed, `update things set v = ${other} where id = 1`)).toEqual(['update things 1'])
        expect((await changesOf(bed(), feed, `update things set v = ${other}`)).toSorted()).toEqual(['update things 2'])
      },
    )

    it('xml', async ({ skip }) => {
      const supported = await bed()
        .sql(`select '<a/>'::xml`)
        .then(
          () => true,
          () => false,
        )
      skip(!supported, 'this build of Postgres has no XML')
      const feed = await capture(bed(), table('xml', `'<a/>'`), declared)
      expect(await changesOf(bed(), feed, `update things set v = v`, `update things set v = '<a/>'`)).toEqual([])
      expect(await changesOf(bed(), feed, `update things set v = '<a />' where id = 2`)).toEqual(['update things 2'])
    })

    it('a text that differs only to the bytes of a nondeterministic collation', async ({ skip }) => {
      skip(!(await hasIcu(bed())), 'this build of Postgres has no ICU')
      await bed().sql(`create collation app.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
      const feed = await capture(bed(), table('text collate app.loose', `'a'`), declared)
      expect(await changesOf(bed(), feed, `update things set v = v`)).toEqual([])
      expect(await changesOf(bed(), feed, `update things set v = 'A' where id = 1`)).toEqual(['update things 1'])
    })

    it('a large value stored out of line and sent again', async () => {
      const feed = await capture(
        bed(),
        `create table things (id int primary key, v text, w int); alter table things alter v set storage external; insert into things values (1, repeat('0123456789', 20000), 0)`,
        declared,
      )
      expect(
        await changesOf(bed(), feed, `update things set v = repeat('0123456789', 20000)`, `update things set w = 0`),
      ).toEqual([])
      expect(await changesOf(bed(), feed, `update things set w = 1`)).toEqual(['update things 1'])
      expect(await changesOf(bed(), feed, `update things set v = repeat('0123456789', 19999) || '012345678x'`)).toEqual(
        ['update things 1'],
      )
    })

    it('rows that were there before a column with a default was added', async () => {
      const feed = await capture(bed(), table('int', '1'), declared)
      await bed().sql(`alter table things add column fresh text default 'x'`)
      expect(await changesOf(bed(), feed, `update things set fresh = 'x'`, `update things set v = v`)).toEqual([])
      expect(await changesOf(bed(), feed, `update things set fresh = 'y' where id = 1`)).toEqual(['update things 1'])
    })

    it('among rows that change, only those are told', async () => {
      const feed = await capture(
        bed(),
        `create table things (id int primary key, v int); insert into things select g, g % 2 from generate_series(1, 10) g`,
        declared,
      )
      expect((await changesOf(bed(), feed, `update things set v = 1`)).toSorted()).toEqual([
        'update things 10',
        'update things 2',
        'update things 4',
        'update things 6',
        'update things 8',
      ])
    })
  })
}

/** Whether collations of ICU can be made here. */
export async function hasIcu(bed: Bed): Promise<boolean> {
  const [row] = await bed.sql(`select count(*)::int as n from pg_collation where collprovider = 'i'`)
  return row?.['n'] !== 0
}
