import { Kysely, PostgresAdapter, DummyDriver, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createFeed } from '../../src/index.ts'
import type { AnyTables } from '../support/bed.ts'

// What createFeed checks by itself, for callers whom the compiler did not check. It never asks the database.

const db = new Kysely<AnyTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (instance) => new PostgresIntrospector(instance),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const tasks = { tenant: 'tenant_id', key: 'id' }

function make(options: object): unknown {
  return createFeed({ db, tables: { tasks }, ...options } as unknown as Parameters<
    typeof createFeed<AnyTables, Record<string, never>>
  >[0])
}

describe('createFeed', () => {
  it('normalises declarations', () => {
    const { tables } = createFeed({
      db,
      tables: {
        tasks: { tenant: 'tenant_id', key: 'id' },
        'app.notes': { tenant: null, key: ['a', 'b'], scopes: ['b', 'c'], capture: 'row' },
        hooks: { tenant: null, key: 'id', capture: 'statement' },
      },
    })
    expect([...tables]).toEqual([
      ['tasks', { name: 'tasks', tenant: 'tenant_id', key: ['id'], scopes: [], capture: 'auto' }],
      ['app.notes', { name: 'app.notes', tenant: null, key: ['a', 'b'], scopes: ['b', 'c'], capture: 'row' }],
      ['hooks', { name: 'hooks', tenant: null, key: ['id'], scopes: [], capture: 'statement' }],
    ])
  })

  it('has its defaults', () => {
    const feed = createFeed({ db, tables: { tasks } })
    expect(feed).toMatchObject({ schema: 'tidemark', tenancy: 'required', db })
    expect(Object.isFrozen(feed)).toBe(true)
  })

  it('does not follow later changes of what it was given', () => {
    const scopes = ['a']
    const { tables } = createFeed({ db, tables: { tasks: { tenant: null, key: 'id', scopes } } })
    scopes.push('b')
    expect(tables.get('tasks')?.scopes).toEqual(['a'])
  })

  it('passes over tables that are declared as undefined', () => {
    const { tables } = createFeed({ db, tables: { tasks, notes: undefined } as { tasks: typeof tasks } })
    expect([...tables.keys()]).toEqual(['tasks'])
  })

  it.each([
    ['schema', { schema: '' }],
    ['schema', { schema: 'x'.repeat(56) }],
    ['schema', { schema: 'ü'.repeat(28) }],
    ['schema', { schema: 'a\0' }],
    ['schema', { schema: 7 }],
    ['captureRole', { captureRole: '' }],
    ['captureRole', { captureRole: 'x'.repeat(64) }],
    ['tenancy', { tenancy: 'maybe' }],
    ['tables', { tables: undefined }],
    ['tables', { tables: null }],
    ['tables', { tables: 'tasks' }],
    ['tables', { tables: {} }],
    ['tables', { tables: { tasks: undefined } }],
    ['tables', { tables: ['tasks'] }],
    ['tables.tasks', { tables: { tasks: null } }],
    ['tables.tasks', { tables: { tasks: 'id' } }],
    ['tables.a.b.c', { tables: { 'a.b.c': tasks } }],
    ['tables.', { tables: { '': tasks } }],
    ['tables.a.', { tables: { 'a.': tasks } }],
    [`tables.${'x'.repeat(64)}`, { tables: { ['x'.repeat(64)]: tasks } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null } } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null, key: [] } } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null, key: ['a', 'a'] } } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null, key: 7 } } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null, key: '' } } }],
    ['tables.tasks.key', { tables: { tasks: { tenant: null, key: ['a', null] } } }],
    ['tables.tasks.tenant', { tables: { tasks: { key: 'id' } } }],
    ['tables.tasks.tenant', { tables: { tasks: { key: 'id', tenant: '' } } }],
    ['tables.tasks.tenant', { tables: { tasks: { key: 'id', tenant: 7 } } }],
    ['tables.tasks.tenant', { tables: { tasks: { key: 'id', tenant: 'tenant_id' } }, tenancy: 'none' }],
    ['tables.tasks.scopes', { tables: { tasks: { ...tasks, scopes: 'a' } } }],
    ['tables.tasks.scopes', { tables: { tasks: { ...tasks, scopes: ['a', 'a'] } } }],
    ['tables.tasks.scopes', { tables: { tasks: { ...tasks, scopes: ['x'.repeat(64)] } } }],
    ['tables.tasks.scopes', { tables: { tasks: { ...tasks, scopes: null } } }],
    ['tables.tasks.capture', { tables: { tasks: { ...tasks, capture: 'auto' } } }],
    ['tables.tasks.capture', { tables: { tasks: { ...tasks, capture: null } } }],
    ['tables.tasks.capture', { tables: { tasks: { ...tasks, capture: true } } }],
    ['tables.tasks.captures', { tables: { tasks: { ...tasks, captures: 'row' } } }],
  ])('refuses by field: %s of %j', (field, options) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'invalidInput', category: 'input', field }))
  })

  it.each([['x'.repeat(55)], ['ü'.repeat(27)], ['Feed Schema'], ['"'], ['$$']])('accepts the schema %s', (schema) => {
    expect(make({ schema })).toMatchObject({ schema })
  })

  it('tenancy none makes every table global, said or not', () => {
    const { tables } = createFeed({
      db,
      tenancy: 'none',
      tables: { tasks: { key: 'id' }, notes: { key: 'id', tenant: null } },
    })
    expect([...tables.values()].map(({ tenant }) => tenant)).toEqual([null, null])
  })
})
