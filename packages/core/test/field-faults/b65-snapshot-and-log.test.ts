import { beforeEach, describe, expect, it } from 'vitest'
import { allTenants, type Audience, readChanges, tenant } from '../../src/index.ts'
import { keysSince, snapshotCursor, snapshotOf } from '../contract/snapshot-cursor.ts'
import { type AnyFeed, capture, type Session } from '../support/bed.ts'
import { onPostgres, bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

// B65: a snapshot of the rows and the log are joined by xmin alone, or 64-bit and 32-bit transaction ids are compared: rows come twice or never.

onPostgres([snapshotCursor])

describe.each(['statement', 'row'] as const)('with writers side by side, captured by %s', (level) => {
  const bed = bedFrom(() => openPostgres({ level }))
  let feed: AnyFeed
  beforeEach(async () => {
    await bed().reset()
    feed = await capture(bed(), 'create table items (id int primary key, org text not null, v int)', {
      items: { tenant: 'org', key: 'id' },
    })
  })
  const acme = tenant('acme')
  const begun = async (...statements: string[]): Promise<Session> => {
    const session = await bed().session()
    for (const statement of ['begin', ...statements]) await session.sql(statement)
    return session
  }

  describe.each<[string, Audience]>([
    ['a tenant', acme],
    ['all tenants', allTenants('tests')],
  ])('%s', (_, whose) => {
    it.each(['rows', 'cursor'] as const)(
      'is told of the older writer, who commits later, and has the younger one in the rows, once: %s first',
      async (first) => {
        await using older = await begun(`insert into items values (1, 'acme')`)
        await using younger = await begun(`insert into items values (2, 'acme')`)
        await younger.sql('commit')
        const { rows, cursor } = await snapshotOf(feed, whose, first)
        expect(rows).toEqual([2])
        expect(await keysSince(feed, whose, cursor)).toEqual([])
        await older.sql('commit')
        expect(await keysSince(feed, whose, cursor)).toEqual(['create 1'])
      },
    )
  })

  it('which of them wrote to the log first makes no difference', async () => {
    // The older transaction has the smaller id and the larger position: its entry comes after the younger one's.
    await using older = await begun('select pg_current_xact_id()')
    await using younger = await begun(`insert into items values (2, 'acme')`)
    await older.sql(`insert into items values (1, 'acme')`)
    await younger.sql('commit')
    const { rows, cursor } = await snapshotOf(feed, acme)
    expect(rows).toEqual([2])
    await older.sql('commit')
    expect(await keysSince(feed, acme, cursor)).toEqual(['create 1'])
  })

  it('writers that begin before and after the snapshot, end in any order, and roll back', async () => {
    await using before = await begun(`insert into items values (1, 'acme')`)
    await using lost = await begun(`insert into items values (2, 'acme')`)
    await bed().sql(`insert into items values (3, 'acme')`)
    const { rows, cursor } = await snapshotOf(feed, acme)
    expect(rows).toEqual([3])
    await using after = await begun(`insert into items values (4, 'acme')`)
    await bed().sql(`update items set v = 1 where id = 3`)
    await after.sql('commit')
    await lost.sql('rollback')
    const told = await keysSince(feed, acme, cursor)
    expect(told.toSorted()).toEqual(['create 4', 'update 3'])
    const page = await readChanges(feed, acme, { since: cursor })
    if (!('changes' in page)) throw new Error('no page')
    await before.sql(`insert into items values (5, 'acme')`)
    await before.sql('commit')
    expect((await keysSince(feed, acme, page.cursor)).toSorted()).toEqual(['create 1', 'create 5'])
    // Whoever comes with the older cursor is told everything that its rows do not show, each once.
    expect((await keysSince(feed, acme, cursor)).toSorted()).toEqual(['create 1', 'create 4', 'create 5', 'update 3'])
  })

  it('a writer with subtransactions, of which some are undone', async () => {
    await using older = await begun(
      `insert into items values (1, 'acme')`,
      'savepoint a',
      `insert into items values (2, 'acme')`,
      'rollback to a',
      'savepoint b',
      `insert into items values (3, 'acme')`,
    )
    await bed().sql(`insert into items values (4, 'acme')`)
    const { rows, cursor } = await snapshotOf(feed, acme)
    expect(rows).toEqual([4])
    await older.sql('commit')
    expect(await keysSince(feed, acme, cursor)).toEqual(['create 1', 'create 3'])
  })

  it('transaction ids are 64 bits wide throughout: in the log, in the snapshot and in what is told', async () => {
    await bed().sql(`insert into items values (1, 'acme')`)
    const [columns] = await bed().sql(
      `select string_agg(distinct format_type(atttypid, null), ', ') as types from pg_attribute where attrelid = 'tidemark.log'::regclass and attname = 'xid'`,
    )
    expect(columns).toEqual({ types: 'xid8' })
    const { cursor } = await snapshotOf(feed, acme)
    await using writer = await begun('select pg_current_xact_id()')
    const [own] = await writer.sql('select pg_current_xact_id()::text as xid')
    await writer.sql(`insert into items values (2, 'acme')`)
    await writer.sql('commit')
    const page = await readChanges(feed, acme, { since: cursor })
    expect(page).toMatchObject({ changes: [{ key: '2', tx: own?.['xid'] }] })
    expect(await bed().sql(`select xid::text from tidemark.log where keys = '{2}'`)).toEqual([own])
  })
})
