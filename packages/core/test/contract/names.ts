import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesOf, entriesOf } from '../support/changes.ts'
import { hostile } from './key-types.ts'

const odd = [
  'Mixed Case',
  'select',
  '$tm$',
  '$$',
  'the key $b$ col',
  '%s %I %L %%',
  'back\\slash\\',
  `it's`,
  'say "hi"',
  ' spaces ',
  'Größe',
  '\u{1F600}',
  'null; drop schema app cascade; --',
  `\\'; select 1; --`,
  'x'.repeat(63),
  'ü'.repeat(31),
  '/* comment',
]

/** Whatever a table and its columns are called (docs/capture.md, rule 28). */
export function names(bed: () => Bed): void {
  describe('names', () => {
    beforeEach(() => bed().reset())
    const named = odd.flatMap((name) => [
      ['at once', name],
      ['late', name],
    ])
    it.each(named)('table, key checked %s, tenant and scope called %j', async (check, name = '') => {
      const table = quoted(name)
      // Distinct column names that keep what is odd about this one, within 63 bytes.
      const cut = Buffer.byteLength(name) > 61 ? [...name].slice(0, -1).join('') : name
      const [key, tenant, scope] = ['k', 't', 's'].map((suffix) => `${cut}${suffix}`.slice(-63)) as [
        string,
        string,
        string,
      ]
      const columns = `${quoted(key)} int primary key ${check === 'late' ? 'deferrable' : ''}, ${quoted(tenant)} text not null, ${quoted(scope)} text, "w" int`
      const feed = await capture(bed(), `create table ${table} (${columns})`, {
        [name]: { tenant, key, scopes: [scope] },
      })
      await using session = await bed().session({ setup: hostile })
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      expect(
        await changesOf(
          on,
          feed,
          `insert into ${table} values (1, 'a', 's')`,
          `insert into ${table} values (2, 'a', 's'), (3, 'a', 's')`,
          `update ${table} set w = 1 where ${quoted(key)} = 1`,
          `update ${table} set w = 2 where ${quoted(key)} = 2`,
          `delete from ${table} where ${quoted(key)} = 3`,
          `truncate ${table}`,
        ),
      ).toEqual([
        `create ${name} 1 @a`,
        `create ${name} 2 @a`,
        `create ${name} 3 @a`,
        `update ${name} 1 @a`,
        `update ${name} 2 @a`,
        `delete ${name} 3 @a`,
        `invalidate ${name} *`,
      ])
      expect(await entriesOf(on, `insert into ${table} values (4, 'a', 'S')`)).toMatchObject([
        { tenant: 'a', scopes: ['S'], keys: ['4'] },
      ])
      // A freed key that is checked late is looked up by all these names.
      const moves = [
        `update ${table} set ${quoted(key)} = 5 where ${quoted(key)} = 4`,
        `update ${table} set ${quoted(tenant)} = 'b'`,
        `update ${table} set ${quoted(scope)} = null`,
      ]
      expect((await entriesOf(on, ...moves)).map(({ op, tenant, scopes, keys }) => [op, tenant, scopes, keys])).toEqual(
        [
          ['d', 'a', ['S'], ['4']],
          ['c', 'a', ['S'], ['5']],
          ['d', 'a', ['S'], ['5']],
          ['c', 'b', ['S'], ['5']],
          ['d', 'b', ['S'], ['5']],
          ['c', 'b', [null], ['5']],
        ],
      )
      expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
      expect(await feed.verify()).toEqual([])
    })

    it('a null tenant is named whatever it is called', async () => {
      const name = `%s 'n' "q" \\ $$`
      const feed = await capture(
        bed(),
        `create table ${quoted(name)} (id int primary key, ${quoted(name)} text not null)`,
        { [name]: { tenant: name, key: 'id' } },
      )
      await bed().sql(`alter table ${quoted(name)} alter ${quoted(name)} drop not null`)
      await using session = await bed().session({ setup: hostile })
      await expect(session.sql(`insert into ${quoted(name)} values (1, null)`)).rejects.toThrow(
        `tidemark feed ${bed().feedSchema}: table ${name} was given a row whose tenant column ${name} is null`,
      )
      expect(await feed.verify()).toHaveLength(1)
    })

    it('tables of one name in two schemas are two tables', async () => {
      await bed().sql(
        'drop schema if exists "Other One" cascade; create schema "Other One"; create table tasks (id int primary key); create table "Other One".tasks (id int primary key)',
      )
      const feed = feedOn(bed(), { tasks: { tenant: null, key: 'id' }, 'Other One.tasks': { tenant: null, key: 'id' } })
      await feed.migrate()
      expect(
        await changesOf(bed(), feed, 'insert into tasks values (1)', 'insert into "Other One".tasks values (2)'),
      ).toEqual(['create tasks 1', 'create Other One.tasks 2'])
      await bed().sql('drop schema "Other One" cascade')
    })

    it('a table whose keys are checked late is looked up by its name: once another has it, or none, all of the table is told anew', async () => {
      const ddl = 'create table tasks (id int primary key deferrable, v int)'
      const feed = await capture(bed(), `${ddl}; insert into tasks values (1), (2)`, {
        tasks: { tenant: null, key: 'id' },
      })
      await bed().sql('alter table tasks rename to jobs')
      expect(await changesOf(bed(), feed, 'update jobs set v = 1 where id = 1', 'insert into jobs values (3)')).toEqual(
        ['update tasks 1', 'create tasks 3'],
      )
      expect(await changesOf(bed(), feed, 'delete from jobs where id = 1')).toEqual(['invalidate tasks *'])
      // What has the name now holds the key that is freed.
      await bed().sql(`${ddl}; insert into tasks values (2)`)
      expect((await changesOf(bed(), feed, 'update jobs set id = 9 where id = 2'))[0]).toBe('invalidate tasks *')
      await bed().sql('drop table tasks; alter table jobs rename to tasks')
      expect(await changesOf(bed(), feed, 'delete from tasks where id = 9')).toEqual(['delete tasks 9'])
    })

    it('a table keeps its name in the feed when it is renamed or moved to another schema', async () => {
      await bed().sql('drop schema if exists elsewhere cascade; create schema elsewhere')
      const feed = await capture(bed(), 'create table tasks (id int primary key, v int)', {
        tasks: { tenant: null, key: 'id' },
      })
      expect(
        await changesOf(
          bed(),
          feed,
          'insert into tasks values (1)',
          'alter table tasks rename to jobs',
          'insert into jobs values (2)',
          'alter table jobs set schema elsewhere',
          'update elsewhere.jobs set v = 1 where id = 1',
        ),
      ).toEqual(['create tasks 1', 'create tasks 2', 'update tasks 1'])
      expect(await changesOf(bed(), feed, 'update elsewhere.jobs set id = 9 where id = 1')).toEqual([
        'delete tasks 1',
        'create tasks 9',
      ])
      expect(await feed.verify()).toMatchObject([
        { table: 'tasks', problem: expect.stringContaining('does not exist') },
      ])
      await bed().sql('drop schema elsewhere cascade')
    })
  })
}
