import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  allTenants,
  appendChange,
  type Audience,
  createFeed,
  globalOnly,
  InvalidCursorError,
  InvalidInputError,
  InvalidTenantError,
  IsolationLevelError,
  NotMigratedError,
  readChanges,
  tenant,
  UnknownTableError,
  WritingTransactionError,
} from '../../src/index.ts'
import { decodeCursor, encodeCursor } from '../../src/cursor/codec.ts'
import type { Cursor } from '../../src/cursor/cursor.ts'
import { brief, type DB, openReadFeed, page, readAll } from './support.ts'

let at: Awaited<ReturnType<typeof openReadFeed>>
beforeAll(async () => {
  at = await openReadFeed()
})
afterAll(() => at[Symbol.asyncDispose]())
beforeEach(async () => {
  await at.run('truncate item, note, city')
  await at.run('delete from tidemark.floor')
})

const acme = tenant('acme')
const head = async (audience: Audience = acme) => page(await readChanges(at.feed, audience, { since: 'now' })).cursor
const altered = (text: string, change: (cursor: Cursor) => Partial<Cursor>): string => {
  const decoded = decodeCursor(text)
  if (decoded.kind !== 'cursor') throw new Error('not a cursor')
  return encodeCursor({
    ...decoded.envelope,
    cursor: { ...decoded.envelope.cursor, ...change(decoded.envelope.cursor) },
  })
}

describe('a page', () => {
  it('holds what was committed since, in order, and what is needed to go on', async () => {
    const since = await head()
    await at.run(`insert into item values (1, 'acme', 'a')`)
    await at.run(`update item set label = 'b' where id = 1`)
    await at.run(`insert into city values (7, 'Oslo')`)
    await at.run(`delete from item where id = 1`)
    const got = page(await readChanges(at.feed, acme, { since }))
    expect(brief(got.changes)).toEqual(['item 1 create', 'item 1 update', 'city 7 create', 'item 1 delete'])
    expect(got).toMatchObject({ hasMore: false, upToDate: true })
    expect(got.changes[0]).toMatchObject({ tenant: 'acme', position: { ordinal: 0 } })
    expect(got.changes[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    expect(got.changes[2]?.tenant).toBeNull()
    expect(page(await readChanges(at.feed, acme, { since: got.cursor }))).toMatchObject({ changes: [], upToDate: true })
  })

  it('is cut at the limit of changes, inside an entry and between entries', async () => {
    const since = await head()
    await at.run(`insert into item select g, 'acme', '' from generate_series(1, 7) g`)
    await at.run(`insert into item values (8, 'acme', ''), (9, 'acme', '')`)
    for (const limit of [1, 2, 3, 7, 8, 9, 10]) {
      const all = await readAll(at.feed, acme, since, limit)
      expect(all.changes.map((c) => c.key)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
      expect(all.pages).toBe(Math.ceil(9 / limit))
      expect(new Set(all.changes.map((c) => `${c.position.entry}.${c.position.ordinal}`)).size).toBe(9)
    }
  })

  it('passes over other tables without standing still', async () => {
    const since = await head()
    await at.run(`insert into item select g, 'acme', '' from generate_series(1, 3) g`)
    for (let i = 1; i <= 1100; i++) await at.run(`insert into note values (${i}, 'acme', '')`)
    await at.run(`insert into item values (4, 'acme', '')`)
    const all = await readAll(at.feed, acme, since, 2, ['item'])
    expect(all.changes.map((c) => c.key)).toEqual(['1', '2', '3', '4'])
    // The view can change without a rewind.
    expect((await readAll(at.feed, acme, all.cursor)).changes).toEqual([])
  })

  it('shows a table-level entry to every tenant', async () => {
    const since = await head()
    await at.run('truncate note')
    expect(brief((await readAll(at.feed, acme, since)).changes)).toEqual(['note * invalidate'])
    expect((await readAll(at.feed, acme, since)).changes[0]?.key).toBeNull()
  })

  it("gives every tenant's changes, with the tenant, to allTenants only", async () => {
    const audiences = [acme, tenant('other'), globalOnly, allTenants('test')] as const
    const since = await Promise.all(audiences.map((audience) => head(audience)))
    await at.run(`insert into item values (1, 'acme', ''), (2, 'other', '')`)
    await at.run(`insert into city values (3, '')`)
    const seen = await Promise.all(
      audiences.map(async (audience, i) =>
        (await readAll(at.feed, audience, since[i] ?? '', 1)).changes.map((c) => `${c.key} ${c.tenant}`).toSorted(),
      ),
    )
    expect(seen).toEqual([['1 acme', '3 null'], ['2 other', '3 null'], ['3 null'], ['1 acme', '2 other', '3 null']])
  })

  it('is the same through an instance whose plugins rename columns', async () => {
    const since = await head()
    await at.run(`insert into item values (1, 'acme', '')`)
    const renamed = createFeed({
      db: at.db.withPlugin(new CamelCasePlugin()),
      tables: { item: { tenant: 'tenant_id', key: 'id' } },
    })
    expect(brief(page(await readChanges(renamed, acme, { since })).changes)).toEqual(['item 1 create'])
  })

  it('is the same under hostile session settings', async () => {
    const since = await head()
    await at.run(`insert into item values (1, 'acme', '')`)
    const plain = await readAll(at.feed, acme, since)
    const settings = `set datestyle = 'German'; set timezone = 'Asia/Kolkata'; set search_path = pg_temp; set default_transaction_isolation = 'serializable'; set default_transaction_read_only = on`
    const hostile = await at.db.connection().execute(async (connection) => {
      for (const one of settings.split(';')) await (await import('kysely')).sql.raw(one).execute(connection)
      const other = createFeed({ db: connection, tables: { item: { tenant: 'tenant_id', key: 'id' } } })
      const got = page(await readChanges(other, acme, { since }))
      await (await import('kysely')).sql`reset all`.execute(connection)
      return got
    })
    expect(hostile.changes).toEqual(plain.changes)
  })
})

describe('since', () => {
  it("'start' begins at the oldest retained change, 'now' at the head", async () => {
    await at.run(`insert into item values (1, 'acme', '')`)
    const start = await readAll(at.feed, acme, 'start')
    expect(brief(start.changes).at(-1)).toBe('item 1 create')
    expect(page(await readChanges(at.feed, acme, { since: 'now' }))).toMatchObject({
      changes: [],
      hasMore: false,
      upToDate: true,
    })
  })

  it('is required, and must be what was issued', async () => {
    const read = (since: unknown) => readChanges(at.feed, acme, { since } as never)
    await expect(read(undefined)).rejects.toThrow(InvalidInputError)
    await expect(read(null)).rejects.toThrow(InvalidInputError)
    await expect(read('')).rejects.toThrow(InvalidCursorError)
    await expect(read('beginning')).rejects.toThrow(InvalidCursorError)
    await expect(read(`${await head()}x`)).rejects.toThrow(InvalidCursorError)
  })
})

describe('resync', () => {
  it.each([
    ['epoch', (text: string) => swap(text, 1)],
    ['audience', (text: string) => swap(text, 7)],
    ['format', (text: string) => swap(text, 0)],
  ])('names %s and gives the head', async (reason, spoil) => {
    const since = await head()
    await at.run(`insert into item values (1, 'acme', '')`)
    const got = await readChanges(at.feed, acme, { since: spoil(since) })
    if (!('resync' in got)) throw new Error(`expected a resync, got ${JSON.stringify(got)}`)
    expect(got.resync.reason).toBe(reason)
    expect((await readAll(at.feed, acme, got.resync.from)).changes).toEqual([])
    await at.run(`update item set label = 'x'`)
    expect(brief((await readAll(at.feed, acme, got.resync.from)).changes)).toEqual(['item 1 update'])
  })

  it('says ahead for transactions this server never had', async () => {
    const since = altered(await head(), ({ snap }) => ({
      snap: { xmin: snap.xmax + 10_000n, xmax: snap.xmax + 10_000n, xip: [], next: null },
    }))
    const got = await readChanges(at.feed, acme, { since })
    expect(got).toMatchObject({ resync: { reason: 'ahead' } })
  })

  it("says pruned below the floor of its tenant or of the global rows, and nobody else's", async () => {
    await at.run(`insert into item values (1, 'acme', ''), (2, 'other', '')`)
    const before = await readAll(at.feed, acme, 'start', 1)
    const old = page(await readChanges(at.feed, acme, { since: 'start', limit: 1 })).cursor
    await at.run(`insert into tidemark.floor select 'other', 1000000, 1000000`)
    expect('changes' in (await readChanges(at.feed, acme, { since: old }))).toBe(true)
    // As pruning does it: the entries go, and their xid is older than anything still running on the server (here: than anything).
    await at.run(`insert into tidemark.floor select null, max(id), 3 from tidemark.log where tenant = 'acme'`)
    await at.run(
      'delete from tidemark.log where id <= (select max(pruned_id) from tidemark.floor where tenant is null)',
    )
    for (const since of [old, 'start']) {
      const got = await readChanges(at.feed, acme, { since })
      expect(got).toMatchObject({ resync: { reason: 'pruned' } })
      if ('resync' in got) expect((await readAll(at.feed, acme, got.resync.from)).changes).toEqual([])
    }
    // A reader that had everything goes on.
    await at.run(`insert into item values (3, 'acme', '')`)
    expect(brief((await readAll(at.feed, acme, before.cursor)).changes)).toContain('item 3 create')
  })

  it('from the floor gives what long writers left at or below it', async () => {
    const long = await at.session()
    await long('begin')
    await long(`insert into item values (1, 'acme', '')`)
    await at.run(`insert into item values (2, 'acme', '')`)
    // Prune what is settled: entry 2, and not the long writer's, whose id is smaller and whose xid is smaller too; its floor is the smaller xid.
    await at.run(`insert into tidemark.floor select null, max(id), 3 from tidemark.log`)
    const got = await readChanges(at.feed, acme, { since: 'start' })
    if (!('resync' in got)) throw new Error('expected pruned')
    await long('commit')
    expect(brief((await readAll(at.feed, acme, got.resync.from)).changes)).toContain('item 1 create')
  })
})

describe('held', () => {
  it('answers in an older snapshot with the same cursor and nothing else', async () => {
    await at.run(`insert into item values (1, 'acme', '')`)
    await at.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (transaction) => {
        await transaction.selectFrom('item').select('id').execute()
        await at.run(`insert into item values (777, 'acme', '')`)
        const newer = await readAll(at.feed, acme, 'start')
        const got = await readChanges(at.feed, acme, { since: newer.cursor, transaction })
        expect(got).toEqual({ held: true, cursor: newer.cursor, retryAfterMs: expect.any(Number) })
        // And what the old snapshot may see, it gives.
        expect(brief((await readAll(at.feed, acme, 'start')).changes)).toContain('item 777 create')
        expect(brief(page(await readChanges(at.feed, acme, { since: 'start', transaction })).changes)).not.toContain(
          'item 777 create',
        )
      })
  })
})

describe('a transaction of the caller', () => {
  it('must not have written', async () => {
    const reading = at.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (transaction) => {
        await transaction.insertInto('item').values({ id: 1, tenant_id: 'acme', label: '' }).execute()
        return readChanges(at.feed, acme, { since: 'start', transaction })
      })
    await expect(reading).rejects.toThrow(WritingTransactionError)
  })

  it.each(['read committed', 'serializable'] as const)('must not be %s', async (level) => {
    const reading = at.db
      .transaction()
      .setIsolationLevel(level)
      .execute((transaction) => readChanges(at.feed, acme, { since: 'start', transaction }))
    await expect(reading).rejects.toThrow(IsolationLevelError)
  })
})

describe('arguments', () => {
  it.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 5001 }],
    ['limit', { limit: 1.5 }],
    ['limit', { limit: '5' }],
    ['tables', { tables: [] }],
    ['tables', { tables: 'item' }],
  ])('names %s', async (field, wrong) => {
    await expect(readChanges(at.feed, acme, { since: 'now', ...wrong } as never)).rejects.toMatchObject({
      code: 'invalidInput',
      field,
    })
  })

  it('refuses an undeclared table and a forged audience', async () => {
    await expect(readChanges(at.feed, acme, { since: 'now', tables: ['tidemark.log'] } as never)).rejects.toThrow(
      UnknownTableError,
    )
    await expect(readChanges(at.feed, { kind: 'all', reason: 'x' } as never, { since: 'now' })).rejects.toThrow(
      InvalidInputError,
    )
  })

  it('refuses a feed that is not installed', async () => {
    const other = createFeed({ db: at.db, schema: 'elsewhere', tables: { item: { tenant: 'tenant_id', key: 'id' } } })
    await expect(readChanges(other, acme, { since: 'now' })).rejects.toThrow(NotMigratedError)
  })

  it('refuses what cannot be a tenant', async () => {
    expect(() => tenant('')).toThrow(InvalidInputError)
    expect(() => tenant(1.5)).toThrow(InvalidInputError)
    await at.run('create table numbered (id int primary key, tenant_id int not null)')
    const numbered = createFeed({
      db: at.db as never,
      schema: 'numbered_feed',
      tables: { numbered: { tenant: 'tenant_id', key: 'id' } } as never,
    })
    await numbered.migrate()
    await expect(readChanges(numbered, tenant('acme'), { since: 'now' })).rejects.toThrow(InvalidTenantError)
    await at.run('insert into numbered values (1, 42)')
    const got = await readChanges(numbered, tenant(' 042 '), { since: 'start' })
    expect('changes' in got && got.changes.map((c: { key: string | null }) => c.key)).toContain('1')
  })
})

describe('a table that another process tracks later', () => {
  it('is read and appended to by processes that began before', async () => {
    await at.run('create table late (id int primary key)')
    const tables = { item: { tenant: 'tenant_id', key: 'id' }, late: { tenant: null, key: 'id' } } as const
    const db = at.db.withTables<{ late: { id: number } }>()
    const early = createFeed({ db, tables })
    await expect(readChanges(early, acme, { since: 'now' })).rejects.toThrow(NotMigratedError)
    expect('changes' in (await readChanges(early, acme, { since: 'now', tables: ['item'] }))).toBe(true)
    const since = await head()
    await createFeed({ db, tables }).migrate()
    await db.transaction().execute(async (trx) => {
      await appendChange(early, trx, globalOnly, {
        table: 'late',
        operation: 'update',
        keys: [5],
      })
    })
    expect(brief(page(await readChanges(early, acme, { since })).changes)).toEqual([
      'late * invalidate',
      'late 5 update',
    ])
  })
})

describe('a pool of one connection', () => {
  it('is enough to read and append inside a transaction, from the first call on', async () => {
    const db = new Kysely<DB>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: at.url, max: 1 }) }),
    })
    try {
      const feed = createFeed({ db, tables: { item: { tenant: 'tenant_id', key: 'id' } } })
      await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((transaction) => readChanges(feed, acme, { since: 'start', transaction }))
      // A cursor newer than the snapshot, and one of transactions that never were, are held without asking on another connection.
      await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (transaction) => {
          await transaction.selectFrom('item').select('id').execute()
          await at.run(`insert into item values (4242, 'acme')`)
          const newer = await head()
          const ahead = altered(newer, ({ snap }) => ({
            snap: { xmin: snap.xmax + 10_000n, xmax: snap.xmax + 10_000n, next: null, xip: [] },
          }))
          for (const since of [newer, ahead]) {
            expect(await readChanges(feed, acme, { since, transaction })).toMatchObject({ held: true, cursor: since })
          }
        })
      const other = createFeed({ db, tables: { item: { tenant: 'tenant_id', key: 'id' } } })
      await db
        .transaction()
        .execute((trx) => appendChange(other, trx, acme, { table: 'item', operation: 'update', keys: [1] }))
    } finally {
      await db.destroy()
    }
  })
})

describe('a feed that was installed anew', () => {
  it('answers old cursors with resync, through feed objects of before too', async () => {
    const other = at.another()
    const since = page(await readChanges(other.feed, acme, { since: 'start' })).cursor
    await at.run('drop schema tidemark cascade')
    await expect(readChanges(other.feed, acme, { since })).rejects.toThrow(NotMigratedError)
    await at.feed.migrate()
    expect(await readChanges(other.feed, acme, { since })).toMatchObject({ resync: { reason: 'epoch' } })
  })
})

/** Flips a bit of one byte of a cursor. */
function swap(text: string, byte: number): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes[byte] = (bytes[byte] ?? 0) ^ 0x10
  return bytes.toString('base64url')
}
