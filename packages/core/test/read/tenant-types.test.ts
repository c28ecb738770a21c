import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFeed, InvalidInputError, InvalidTenantError, notify, readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page } from './support.ts'

// What a tenant claim may do on its way to the log's text, and what is refused before the database is asked.

let at: Awaited<ReturnType<typeof openReadFeed>>
beforeAll(async () => {
  at = await openReadFeed()
})
afterAll(() => at[Symbol.asyncDispose]())

type Typed = {
  typed: { id: number; tenant_id: string }
}
const tables = { typed: { tenant: 'tenant_id', key: 'id' } } as const

it('an enum is not cast: a cast that its owner made never runs', async () => {
  await at.run(`create type mood as enum ('a', 'b')`)
  await at.run(`create function always_a(text) returns mood language sql as $$ select (enum_range(null::mood))[1] $$`)
  await at.run('create cast (text as mood) with function always_a(text)')
  await at.run('create table typed (id int primary key, tenant_id mood not null)')
  const db = at.db.withTables<Typed>()
  const feed = createFeed({ db, schema: 'enum_feed', tables })
  await feed.migrate()
  await at.run('insert into typed select 1, (enum_range(null::mood))[1]')
  const keysOf = async (id: string) =>
    page(await readChanges(feed, tenant(id), { since: 'start' })).changes.map((c) => c.key)
  expect(await keysOf('a')).toEqual([null, '1'])
  expect(await keysOf('b')).toEqual([null])
  await expect(keysOf('zzz')).rejects.toThrow(InvalidTenantError)
  const told = db
    .transaction()
    .execute((trx) => notify(feed, trx, tenant('zzz'), { entries: [{ table: 'typed', keys: [1] }] }))
  await expect(told).rejects.toThrow(InvalidTenantError)
})

it('a name is not cut to another tenant', async () => {
  await at.run('drop table typed')
  await at.run('create table typed (id int primary key, tenant_id name not null)')
  const feed = createFeed({ db: at.db.withTables<Typed>(), schema: 'name_feed', tables })
  await feed.migrate()
  await at.run(`insert into typed values (1, '${'a'.repeat(63)}')`)
  expect(page(await readChanges(feed, tenant('a'.repeat(63)), { since: 'start' })).changes).toHaveLength(2)
  await expect(readChanges(feed, tenant(`${'a'.repeat(63)}EVIL`), { since: 'start' })).rejects.toThrow(
    InvalidTenantError,
  )
})

it.each([
  ['a lone surrogate', '\ud800'],
  ['more than 1,024 bytes', 'ä'.repeat(513)],
])('%s is no tenant', (_, text) => {
  expect(() => tenant(text)).toThrow(InvalidInputError)
})

it('a server role that may not use the schema of a table starts all the same', async () => {
  await at.run('create schema apart')
  await at.run('create table apart.typed (id int primary key, tenant_id text not null)')
  type Apart = {
    'apart.typed': Typed['typed']
  }
  const parts = { 'apart.typed': { tenant: 'tenant_id', key: 'id' } } as const
  const db = at.db.withTables<Apart>()
  const role = `server_${Math.floor(Math.random() * 1e9)}`
  await at.run(`create role ${role}`)
  try {
    await createFeed({ db, schema: 'apart_feed', tables: parts }).migrate({ grantTo: [role] })
    await db.connection().execute(async (connection) => {
      await sql.raw(`set role ${role}`).execute(connection)
      try {
        const served = createFeed({ db: connection, schema: 'apart_feed', tables: parts })
        expect(await served.verify()).toEqual([])
        expect(await served.migrate()).toEqual({ migrations: [], installed: [] })
      } finally {
        await sql.raw('reset role').execute(connection)
      }
    })
  } finally {
    await at.run(`drop owned by ${role}`)
    await at.run(`drop role ${role}`)
  }
})

it.each([
  ['tables.typed.scope', { tables: { typed: { ...tables.typed, scope: ['id'] } } }],
  ['schema', { schema: 'pg_feed' }],
])('createFeed refuses %s', (field, wrong) => {
  expect(() => createFeed({ db: at.db, tables, ...wrong } as never)).toThrow(expect.objectContaining({ field }))
})

it.each([
  ['lockTimeoutMs', { lockTimeoutMs: Number.NaN }],
  ['lockTimeoutMs', { lockTimeoutMs: '1; select 1' }],
  ['lockAttempts', { lockAttempts: 0 }],
  ['grantTo', { grantTo: 'app' }],
  ['redeclare', { redeclare: ['nope'] }],
  ['options', null],
])('migrate refuses %s before it asks the database', async (field, wrong) => {
  await expect(at.feed.migrate(wrong as never)).rejects.toMatchObject({ code: 'invalidInput', field })
})
