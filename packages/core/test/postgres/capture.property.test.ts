import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyFeed, capture, type Declaration, type Level, type Session } from '../support/bed.ts'
import { changesSince, entriesBy, now } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// Whatever statements do to a table, a reader who follows the feed knows which rows exist for which tenant, and which have changed.

/** A kind of table: what makes `t`, its declared key, the same key in SQL, and what upserts conflict on. */
interface Kind {
  readonly level: Level
  readonly ddl: string
  readonly key: Declaration['key']
  readonly keyText: string
  readonly conflict: string
}

const columns = 'id int not null, org text not null, scope int, code int, v int, w json'
const immediate = {
  ddl: `create table t (${columns}, unique (id), unique (code))`,
  key: 'id',
  keyText: 'id::text',
  conflict: 'code',
} as const
const ordinary = {
  ddl: `create table t (${columns}, unique (id) deferrable initially immediate, unique (code))`,
  key: 'id',
  keyText: 'id::text',
  conflict: 'code',
} as const

const kinds: Readonly<Record<string, Kind>> = {
  'captured by statement': { ...ordinary, level: 'statement' },
  'captured by row': { ...ordinary, level: 'row' },
  // Nothing is looked up: a key is freed before it is taken again.
  'captured by statement, its keys checked at once': { ...immediate, level: 'statement' },
  'captured by row, its keys checked at once': { ...immediate, level: 'row' },
  // Rows move between partitions with their tenant; one was attached with its columns in another order.
  'that is partitioned by tenant': {
    level: 'statement',
    ddl: `create table t (${columns}, unique (id, org) deferrable initially immediate, unique (code, org)) partition by list (org);
      create table ta partition of t for values in ('a');
      create table tbc partition of t for values in ('b', 'c') partition by list (org);
      create table tb partition of tbc for values in ('b');
      create table tc (w json, v int, gone int, code int, scope int, org text not null, id int not null); alter table tc drop column gone;
      alter table tbc attach partition tc for values in ('c')`,
    key: ['id', 'org'],
    keyText: 'array_to_json(array[id::text, org])::text',
    conflict: 'code, org',
  },
  // Rows move between partitions with their key.
  'that is partitioned by key': {
    level: 'statement',
    ddl: `create table t (${columns}, unique (id) deferrable initially immediate, unique (code, id)) partition by range (id);
      create table low partition of t for values from (minvalue) to (4);
      create table middle partition of t for values from (4) to (7);
      create table high partition of t for values from (7) to (maxvalue)`,
    key: 'id',
    keyText: 'id::text',
    conflict: 'code, id',
  },
  'that is partitioned by key, its keys checked at once': {
    level: 'statement',
    ddl: `create table t (${columns}, primary key (id), unique (code, id)) partition by range (id);
      create table low partition of t for values from (minvalue) to (5);
      create table high partition of t for values from (5) to (maxvalue)`,
    key: 'id',
    keyText: 'id::text',
    conflict: 'code, id',
  },
}

const id = fc.integer({ min: 1, max: 9 })
const org = fc.constantFrom(`'a'`, `'b'`, `'c'`)
const scope = fc.constantFrom('1', '2', 'null')
const code = fc.constantFrom('1', '2', '3', 'null', 'null', 'null', 'null')
const v = fc.integer({ min: 0, max: 2 })
const json = fc.constantFrom(`'{}'`, `'{ }'`, 'null')
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 4 }).map((list) => `id in (${list.join(', ')})`)
const row = fc.tuple(id, org, scope, code, v, json).map((values) => `(${values.join(', ')})`)
const rows = fc.array(row, { minLength: 1, maxLength: 3 }).map((list) => list.join(', '))
const set = fc
  .uniqueArray(
    fc.oneof(
      fc.constantFrom('id = id + 1', 'id = 7 - id', 'id = id'),
      org.map((value) => `org = ${value}`),
      scope.map((value) => `scope = ${value}`),
      v.map((value) => `v = ${value}`),
      json.map((value) => `w = ${value}`),
    ),
    { minLength: 1, maxLength: 4, selector: (assignment) => assignment.split(' ')[0] },
  )
  .map((list) => list.join(', '))

const statement = (conflict: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: rows.map((values) => `insert into t values ${values}`) },
    {
      weight: 4,
      arbitrary: fc.tuple(set, ids).map(([assignments, where]) => `update t set ${assignments} where ${where}`),
    },
    { weight: 2, arbitrary: set.map((assignments) => `update t set ${assignments}`) },
    { weight: 2, arbitrary: ids.map((where) => `delete from t where ${where}`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(rows, set)
        .map(
          ([values, assignments]) =>
            `insert into t values ${values} on conflict (${conflict}) do update set ${assignments.replaceAll(/= id\b|7 - id/g, (text) => text.replace('id', 't.id'))}`,
        ),
    },
    {
      weight: 1,
      arbitrary: rows.map((values) => `insert into t values ${values} on conflict (${conflict}) do nothing`),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(rows, org).map(
        ([values, tenant]) => `merge into t using (values ${values}) s(id, org, scope, code, v, w) on t.id = s.id
        when matched and s.v = 0 then delete when matched then update set org = ${tenant}, v = s.v
        when not matched then insert values (s.id, s.org, s.scope::int, null, s.v, s.w::json)`,
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(ids, row)
        .map(
          ([where, values]) =>
            `with gone as (delete from t where ${where} returning 1) insert into t select s.id, s.org, s.scope::int, s.code::int, s.v, s.w::json from (select count(*) from gone) g, (values ${values}) s(id, org, scope, code, v, w)`,
        ),
    },
  )
const step = (one: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(one).map((statements): string[] => [...statements]) },
    {
      weight: 2,
      arbitrary: fc.array(one, { minLength: 2, maxLength: 4 }).map((list) => ['begin', ...list, 'commit']),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(one, { minLength: 2, maxLength: 4 })
        .map((list) => ['begin', 'set constraints all deferred', ...list, 'commit']),
    },
    {
      weight: 1,
      arbitrary: fc.array(one, { minLength: 1, maxLength: 3 }).map((list) => ['begin', ...list, 'rollback']),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(one, one, one)
        .map(([a, b, c]) => ['begin', a, 'savepoint s', b, 'rollback to s', c, 'commit']),
    },
  )

/** Runs a step; a statement that fails takes its transaction along. */
async function run(session: Session, statements: readonly string[]): Promise<void> {
  for (const text of statements) {
    const failed = await session.sql(text).then(
      () => false,
      () => true,
    )
    if (failed) return void (await session.sql('rollback'))
  }
}

describe.each(Object.entries(kinds))('a table %s', (_, { level, ddl, key, keyText, conflict }) => {
  let bed: PostgresBed
  let feed: AnyFeed
  beforeAll(async () => {
    bed = await openPostgres({ level })
    await bed.reset()
    feed = await capture(bed, ddl, { t: { tenant: 'org', key, scopes: ['scope'] } })
  })
  afterAll(() => bed.close())

  /** All rows by tenant, scope and key, which is what makes a row to its readers, with their content. */
  const state = async (): Promise<Map<string, string>> => {
    const found = await bed.sql(
      `select json_build_array(org, array[scope::text], ${keyText})::text as row, t::text as content from t`,
    )
    return new Map(found.map(({ row: name, content }) => [compact(name), String(content)]))
  }
  const compact = (json: unknown): string => JSON.stringify(JSON.parse(String(json)))

  it('tells readers exactly which rows exist and which have changed', { timeout: 240_000 }, async () => {
    await using session = await bed.session()
    let told = 0
    let deleted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(step(statement(conflict)), { minLength: 1, maxLength: 10, size: 'max' }),
        async (steps) => {
          await bed.sql(
            `delete from t; insert into t select g, substr('abc', g % 3 + 1, 1), g % 2, null, 0 from generate_series(1, 5) g`,
          )
          for (const statements of steps) {
            const before = await state()
            const since = await now(feed)
            const entries = await entriesBy(bed, () => run(session, statements))
            const after = await state()
            const last = new Map<string, string>()
            for (const { op, tenant, scopes, keys } of entries)
              for (const each of keys ?? []) last.set(JSON.stringify([tenant, scopes, each]), op)
            for (const [name, op] of last) expect([name, op === 'd']).toEqual([name, !after.has(name)])
            for (const [name, content] of after)
              if (before.get(name) !== content) expect([...last.keys()]).toContain(name)
            for (const name of before.keys()) if (!after.has(name)) expect([...last.keys()]).toContain(name)
            // What is read is what was logged, key by key, and in that order.
            const logged = entries.flatMap(({ tenant, keys }) => (keys ?? []).map((each) => `${each} @${tenant}`))
            expect((await changesSince(feed, since)).map((change) => change.replace(/^\w+ t /, ''))).toEqual(logged)
            told += logged.length
            deleted += [...last.values()].filter((op) => op === 'd').length
          }
        },
      ),
      { seed: 20_261_130, numRuns: 80 },
    )
    expect(told).toBeGreaterThan(300)
    expect(deleted).toBeGreaterThan(50)
  })
})
