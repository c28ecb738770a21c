import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesOf, entriesOf, lastWords, type LoggedEntry } from '../support/changes.ts'
import { hasIcu } from './capture-no-ops.ts'

/** Settings of a session that change what `::text` gives for one type or another. */
export const hostile = `set datestyle = 'German, DMY'; set intervalstyle = 'sql_standard'; set timezone = 'Pacific/Chatham'; set bytea_output = 'escape';
  set extra_float_digits = -15; set standard_conforming_strings = off; set quote_all_identifiers = on; set array_nulls = off;
  set search_path = app, public, pg_catalog; set enable_hashjoin = off; set enable_mergejoin = off; set row_security = off; set jit = on`

/** A value: SQL, and its canonical text. */
type Value = readonly [sql: string, text: string]

/** [type, what makes it, values] */
const types: readonly (readonly [string, string, readonly Value[]])[] = [
  ['int2', '', [['-32768', '-32768']]],
  ['int4', '', [['42', '42']]],
  ['int8', '', [['9223372036854775807', '9223372036854775807']]],
  ['oid', '', [['4294967295', '4294967295']]],
  ['uuid', '', [[`'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'`, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']]],
  [
    'bool',
    '',
    [
      ['true', 'true'],
      ['false', 'false'],
    ],
  ],
  [
    'text',
    '',
    [
      [`''`, ''],
      [`E'ä"\\\\''{},'`, 'ä"\\\'{},'],
      [`' a '`, ' a '],
      [`'\u{1F600}'`, '\u{1F600}'],
    ],
  ],
  ['varchar(10)', '', [[`'a  '`, 'a  ']]],
  ['char(4)', '', [[`'ab'`, 'ab']]],
  ['name', '', [[`'n'`, 'n']]],
  [
    'date',
    '',
    [
      [`'2024-03-10'`, '2024-03-10'],
      [`'0044-03-15 BC'`, '0044-03-15 BC'],
      [`'infinity'`, 'infinity'],
    ],
  ],
  ['time', '', [[`'02:30:00.5'`, '02:30:00.5']]],
  [
    'timestamp',
    '',
    [
      [`'2024-03-10 02:30:00.123456'`, '2024-03-10T02:30:00.123456'],
      [`'-infinity'`, '-infinity'],
    ],
  ],
  [
    'timestamptz',
    '',
    [
      [`'2024-03-10 02:30:00+00'`, '2024-03-10T02:30:00'],
      [`'2024-12-31 23:00:00.5-05'`, '2025-01-01T04:00:00.5'],
      [`'infinity'`, 'infinity'],
    ],
  ],
  [
    'numeric',
    '',
    [
      ['1.50', '1.5'],
      ['100', '100'],
      ['0.000', '0'],
      [`'NaN'`, 'NaN'],
      ['123456789012345678901234567890.10', '123456789012345678901234567890.1'],
    ],
  ],
  ['numeric(10,4)', '', [['2', '2']]],
  [
    'bytea',
    '',
    [
      [`decode('00ff5c27', 'hex')`, '00ff5c27'],
      [`decode('', 'hex')`, ''],
    ],
  ],
  ['macaddr', '', [[`'08-00-2B-01-02-03'`, '08:00:2b:01:02:03']]],
  [
    'mood',
    `create type mood as enum ('so so', 'great "x"')`,
    [
      [`'so so'`, 'so so'],
      [`'great "x"'`, 'great "x"'],
    ],
  ],
  ['public.citext', 'create extension if not exists citext schema public', [[`'MiXed'`, 'MiXed']]],
  ['small', 'create domain small as int check (value < 100)', [['7', '7']]],
  ['smaller', 'create domain small as int; create domain smaller as small', [['7', '7']]],
  ['label', 'create domain label as text', [[`'x'`, 'x']]],
  ['moment', 'create domain moment as timestamptz', [[`'2024-03-10 02:30:00+00'`, '2024-03-10T02:30:00']]],
  ['day', 'create domain day as date', [[`'2024-03-10'`, '2024-03-10']]],
  [
    'mail',
    'create extension if not exists citext schema public; create domain mail as public.citext',
    [[`'A@b'`, 'A@b']],
  ],
  ['feeling', `create type mood as enum ('so so'); create domain feeling as mood`, [[`'so so'`, 'so so']]],
  ['price', 'create domain price as numeric', [['1.10', '1.1']]],
  ['hash', 'create domain hash as bytea', [[`decode('00', 'hex')`, '00']]],
]

/** [type, what makes it, two values] */
const swapped: readonly (readonly [string, string, Value, Value])[] = [
  ['int8', '', ['1', '1'], ['9223372036854775807', '9223372036854775807']],
  ['text', '', [`'a'`, 'a'], [`'A'`, 'A']],
  ['numeric', '', ['1.0', '1'], ['2.50', '2.5']],
  ['char(4)', '', [`'a'`, 'a'], [`'b'`, 'b']],
  ['public.citext', 'create extension if not exists citext schema public', [`'a'`, 'a'], [`'B'`, 'B']],
  ['mood', `create type mood as enum ('so so', 'great')`, [`'so so'`, 'so so'], [`'great'`, 'great']],
  [
    'feeling',
    `create type mood as enum ('good', 'bad'); create domain feeling as mood`,
    [`'good'`, 'good'],
    [`'bad'`, 'bad'],
  ],
  ['timestamptz', '', [`'2024-03-10 02:30+00'`, '2024-03-10T02:30:00'], [`'infinity'`, 'infinity']],
  ['date', '', [`'0044-03-15 BC'`, '0044-03-15 BC'], [`'2024-03-10'`, '2024-03-10']],
  ['bytea', '', [`decode('00', 'hex')`, '00'], [`decode('', 'hex')`, '']],
  [
    'uuid',
    '',
    [`'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    [`'00000000-0000-0000-0000-000000000000'`, '00000000-0000-0000-0000-000000000000'],
  ],
  ['bool', '', ['true', 'true'], ['false', 'false']],
]

/** Keys, tenants and scope values as text: the same in every session (docs/capture.md, rules 18 to 20). */
export function keyTypes(bed: () => Bed): void {
  describe('canonical text', () => {
    beforeEach(() => bed().reset())
    it.each(types)('of %s', async (type, making, values) => {
      await capture(bed(), `${making}; create table things (v ${type} primary key, w int)`, {
        things: { tenant: 'v', key: 'v', scopes: ['v'] },
      })
      for (const [sql, text] of values) {
        await using session = await bed().session({ setup: hostile })
        const insert = `insert into things values (${sql}, 0)`
        const written = await entriesOf(
          { ...bed(), sql: (statement) => session.sql(statement) },
          insert,
          `update things set w = 1`,
          `delete from things`,
        )
        const expected = { tenant: text, scopes: [text], keys: [text], n: 1 }
        expect(written).toEqual(['c', 'u', 'd'].map((op) => ({ op, ...expected })))
      }
      const all = values.map(([sql]) => `(${sql}, 0)`).join(', ')
      const many = await entriesOf(
        bed(),
        `insert into things values ${all}`,
        `update things set w = 1`,
        `delete from things`,
      )
      expect(new Set(many.map(({ tenant, scopes, keys }) => JSON.stringify([tenant, scopes, keys])))).toEqual(
        new Set(values.map(([, text]) => JSON.stringify([text, [text], [text]]))),
      )
    })

    it.for(['text', 'varchar(9)', 'char(9)'])('of %s under a nondeterministic collation', async (type, { skip }) => {
      skip(!(await hasIcu(bed())), 'this build of Postgres has no ICU')
      await capture(
        bed(),
        `create collation app.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create table things (v ${type} collate app.loose primary key, w int)`,
        { things: { tenant: 'v', key: 'v', scopes: ['v'] } },
      )
      const written = await entriesOf(bed(), `insert into things values ('a', 0)`, `update things set v = 'A'`)
      expect(written.map(({ op, tenant, keys }) => [op, tenant, keys])).toEqual([
        ['c', 'a', ['a']],
        ['d', 'a', ['a']],
        ['c', 'A', ['A']],
      ])
      const many = await entriesOf(
        bed(),
        `insert into things values ('b', 0), ('c', 0)`,
        `update things set v = upper(v)`,
      )
      expect(
        many
          .filter(({ op }) => op === 'd')
          .flatMap(({ keys }) => keys)
          .toSorted(),
      ).toEqual(['b', 'c'])
      expect(
        many
          .filter(({ op, keys }) => op === 'c' && keys?.every((key) => key === key.toUpperCase()))
          .flatMap(({ keys }) => keys)
          .toSorted(),
      ).toEqual(['B', 'C'])
    })

    it('of keys whose = is coarser than their text: a changed text is another key', async () => {
      await capture(
        bed(),
        `create extension if not exists citext schema public; create table mails (v public.citext primary key, amount numeric not null unique, code char(4) not null unique);
         insert into mails values ('a@b', 1.0, 'x')`,
        { mails: { tenant: null, key: 'v', scopes: ['amount', 'code'] } },
      )
      expect(await entriesOf(bed(), `update mails set v = 'A@b'`)).toMatchObject([
        { op: 'd', keys: ['a@b'] },
        { op: 'c', keys: ['A@b'] },
      ])
      // Another scale or padding is the same value and the same text, but another row image.
      expect(await entriesOf(bed(), `update mails set amount = 1.00, code = 'x  '`)).toMatchObject([
        { op: 'u', keys: ['A@b'], scopes: ['1', 'x'] },
      ])
    })

    it('of a numeric key of another scale is the same key', async () => {
      await capture(bed(), 'create table amounts (v numeric primary key); insert into amounts values (1.0)', {
        amounts: { tenant: null, key: 'v' },
      })
      expect(await entriesOf(bed(), 'update amounts set v = 1.00', 'update amounts set v = 1.00')).toMatchObject([
        { op: 'u', keys: ['1'] },
      ])
    })

    it.each(swapped)('of %s finds the row that took a key over', async (type, making, [a, textOfA], [b, textOfB]) => {
      const feed = await capture(
        bed(),
        `${making}; create table things (v ${type} not null unique deferrable initially deferred, w int)`,
        { things: { tenant: null, key: 'v' } },
      )
      await using session = await bed().session({ setup: hostile })
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      await session.sql(`insert into things values (${a}, 1), (${b}, 2)`)
      const ends = async (last: string, ...statements: string[]): Promise<void> =>
        expect(new Set(lastWords(await changesOf(on, feed, ...statements)))).toEqual(
          new Set([`things ${textOfA} ${last}`, `things ${textOfB} ${last}`]),
        )
      await ends('present', `update things set v = case w when 1 then ${b}::${type} else ${a}::${type} end`)
      await ends(
        'present',
        `begin; update things set v = ${a} where w = 1; update things set v = ${b} where w = 2; commit`,
      )
      await ends(
        'present',
        `begin; insert into things select v, w + 10 from things; delete from things where w < 10; commit`,
      )
      await ends('deleted', 'delete from things')
    })

    it('of a tenant must fit into an index entry, about 2,600 bytes: a longer one fails the write', async () => {
      await capture(bed(), 'create table things (id int primary key, org text not null)', {
        things: { tenant: 'org', key: 'id' },
      })
      const insert = (words: number): string =>
        `insert into things values (${words}, (select string_agg(md5(g::text), '') from generate_series(1, ${words}) g))`
      expect(await entriesOf(bed(), insert(80))).toMatchObject([{ op: 'c', keys: ['80'] }])
      await expect(bed().sql(insert(90))).rejects.toMatchObject({
        code: '54000',
        where: expect.stringContaining('c1_c()'),
      })
    })

    it('of null is null, for every type: a null scope is not the empty text, a null tenant is refused', async () => {
      const columns = ['mood', 'public.citext', 'text', 'timestamptz', 'date', 'bytea', 'numeric', 'char(3)', 'int4']
      await capture(
        bed(),
        `create extension if not exists citext schema public; create type mood as enum ('good');
         create table things (id int primary key, ${columns.map((type, i) => `s${i} ${type}`).join(', ')});
         ${columns.map((type, i) => `create table owned${i} (id int primary key, org ${type} not null)`).join(';')}`,
        { things: { tenant: null, key: 'id', scopes: columns.map((_, i) => `s${i}`) } },
      )
      const nulls = columns.map(() => null)
      const entry = (op: string, ...keys: string[]): LoggedEntry => ({
        op,
        tenant: null,
        n: keys.length,
        keys,
        scopes: nulls,
      })
      const grouped = [entry('c', '1'), entry('c', '2', '3'), entry('d', '1', '2', '3')]
      expect(
        await entriesOf(
          bed(),
          'insert into things values (1)',
          'insert into things values (2), (3)',
          'delete from things',
        ),
      ).toEqual(
        bed().level === 'row' ? grouped.flatMap(({ op, keys }) => (keys ?? []).map((key) => entry(op, key))) : grouped,
      )
      for (const i of columns.keys()) {
        await bed().sql(`drop schema ${quoted(bed().feedSchema)} cascade`)
        await feedOn(bed(), { [`owned${i}`]: { tenant: 'org', key: 'id' } }).migrate()
        await bed().sql(`alter table owned${i} alter org drop not null`)
        for (const rows of ['(1, null)', '(1, null), (2, null)']) {
          await expect(bed().sql(`insert into owned${i} values ${rows}`)).rejects.toMatchObject({ code: '23502' })
        }
      }
    })

    it('of composite keys is a JSON array of the texts of their columns, in declared order', async () => {
      await capture(
        bed(),
        `create table notes (b text, a timestamptz, c bytea, d numeric, w int, primary key (a, b, c, d))`,
        { notes: { tenant: null, key: ['a', 'b', 'c', 'd'] } },
      )
      await using session = await bed().session({ setup: hostile })
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      const [written] = await entriesOf(
        on,
        `insert into notes values (E'"\\\\,]ä', '2024-03-10 02:30:00+00', decode('00', 'hex'), 1.50)`,
      )
      expect(JSON.parse(written?.keys?.[0] ?? '')).toEqual(['2024-03-10T02:30:00', '"\\,]ä', '00', '1.5'])
      const [updated] = await entriesOf(on, 'update notes set w = 1')
      expect(updated?.keys).toEqual(written?.keys)
    })

    it('of composite keys does not collide', async () => {
      await capture(bed(), `create table pairs (a text, b text, primary key (a, b))`, {
        pairs: { tenant: null, key: ['a', 'b'] },
      })
      const written = await entriesOf(
        bed(),
        `insert into pairs values ('a', 'b'), ('a"', '"b'), ('a,b', ''), ('', 'a,b'), ('a","b', ''), ('a', '","b')`,
      )
      expect(new Set(written.flatMap(({ keys }) => keys)).size).toBe(6)
    })
  })
}
