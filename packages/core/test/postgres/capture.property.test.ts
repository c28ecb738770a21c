import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnyFeed, capture, type Session } from '../support/bed.ts'
import { changesBy } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// Whatever statements do to a table, a reader who follows the feed knows which rows exist for which tenant, and which have changed.

let bed: PostgresBed
let feed: AnyFeed
beforeAll(async () => {
  bed = await openPostgres()
  await bed.reset()
  feed = await capture(
    bed,
    `create table t (id int not null unique deferrable initially immediate, org text not null, scope int, code int unique, v int, w json)`,
    { t: { tenant: 'org', key: 'id', scopes: ['scope'] } },
  )
})
afterAll(() => bed.close())

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

const statement = fc.oneof(
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
          `insert into t values ${values} on conflict (code) do update set ${assignments.replaceAll(/= id\b|7 - id/g, (text) => text.replace('id', 't.id'))}`,
      ),
  },
  { weight: 1, arbitrary: rows.map((values) => `insert into t values ${values} on conflict (code) do nothing`) },
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
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(statement).map((statements): string[] => [...statements]) },
  {
    weight: 2,
    arbitrary: fc.array(statement, { minLength: 2, maxLength: 4 }).map((list) => ['begin', ...list, 'commit']),
  },
  {
    weight: 1,
    arbitrary: fc.array(statement, { minLength: 1, maxLength: 3 }).map((list) => ['begin', ...list, 'rollback']),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(statement, statement, statement)
      .map(([a, b, c]) => ['begin', a, 'savepoint s', b, 'rollback to s', c, 'commit']),
  },
)

/** All rows by tenant and key, with their content. */
async function state(): Promise<Map<string, string>> {
  const found = await bed.sql(`select id || ' @' || org as row, t::text as content from t`)
  return new Map(found.map(({ row: name, content }) => [String(name), String(content)]))
}

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

it('readers know exactly which rows exist and which have changed', { timeout: 120_000 }, async () => {
  await using session = await bed.session()
  let told = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10, size: 'max' }), async (steps) => {
      await bed.sql(
        `delete from t; insert into t select g, substr('abc', g % 3 + 1, 1), g % 2, null, 0 from generate_series(1, 5) g`,
      )
      for (const statements of steps) {
        const before = await state()
        const changes = await changesBy(feed, () => run(session, statements))
        const after = await state()
        told += changes.length
        const last = new Map(changes.map((change) => [change.replace(/^\w+ t /, ''), change.split(' ')[0]]))
        for (const [name, operation] of last) expect([name, operation === 'delete']).toEqual([name, !after.has(name)])
        for (const [name, content] of after) if (before.get(name) !== content) expect([...last.keys()]).toContain(name)
        for (const name of before.keys()) if (!after.has(name)) expect([...last.keys()]).toContain(name)
      }
    }),
    { seed: 20_261_130, numRuns: 100 },
  )
  expect(told).toBeGreaterThan(500)
})
