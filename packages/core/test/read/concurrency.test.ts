import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allTenants, readChanges, tenant } from '../../src/index.ts'
import { openReadFeed, page, readAll } from './support.ts'

// Writers and readers take turns here, step by step: each schedule is forced, none depends on luck.

let at: Awaited<ReturnType<typeof openReadFeed>>
beforeAll(async () => {
  at = await openReadFeed()
})
afterAll(() => at[Symbol.asyncDispose]())
beforeEach(() => at.run('truncate item, note, city'))

const acme = tenant('acme')
const keys = async (since: string, limit = 500) => {
  const all = await readAll(at.feed, acme, since, limit)
  return { keys: all.changes.map((c) => c.key), cursor: all.cursor }
}
const head = async () => page(await readChanges(at.feed, acme, { since: 'now' })).cursor

describe('a transaction that commits after younger ones were read', () => {
  it('is delivered by its lower ids, once', async () => {
    const long = await at.session()
    const since = await head()
    await long('begin')
    await long(`insert into item values (1, 'acme')`)
    await at.run(`insert into item values (2, 'acme')`)
    const first = await keys(since)
    expect(first.keys).toEqual(['2'])
    await long('commit')
    const second = await keys(first.cursor)
    expect(second.keys).toEqual(['1'])
    expect((await keys(second.cursor)).keys).toEqual([])
  })

  it('is delivered although it began after the latest completed one (xid >= xmax)', async () => {
    // The younger transaction id commits first, so xmax jumps past it only; the third has an id at xmax and a log id below the mark.
    const [early, late, third] = [await at.session(), await at.session(), await at.session()]
    const since = await head()
    await early('begin')
    await early('select pg_current_xact_id()')
    await late('begin')
    await late('select pg_current_xact_id()')
    await third('begin')
    await third(`insert into item values (3, 'acme')`)
    await early(`insert into item values (1, 'acme')`)
    await early('commit')
    const first = await keys(since)
    expect(first.keys).toEqual(['1'])
    await third('commit')
    await late(`insert into item values (2, 'acme')`)
    await late('commit')
    const second = await keys(first.cursor)
    expect(second.keys.toSorted()).toEqual(['2', '3'])
    expect((await keys(second.cursor)).keys).toEqual([])
  })

  it('is delivered when its entry was appended explicitly before it wrote anything', async () => {
    const { feed, db } = at.another()
    const since = await head()
    const { appendChange } = await import('../../src/index.ts')
    let first = { keys: [] as (string | null)[], cursor: '' }
    await db.transaction().execute(async (trx) => {
      await appendChange(feed, trx, acme, { table: 'item', operation: 'update', keys: [77] })
      await at.run(`insert into item values (1, 'acme')`)
      first = await keys(since)
    })
    expect(first.keys).toEqual(['1'])
    expect((await keys(first.cursor)).keys).toEqual(['77'])
  })

  it('is delivered when it wrote in subtransactions, and what was rolled back is not', async () => {
    const long = await at.session()
    const since = await head()
    await long('begin')
    await long('savepoint a')
    await long(`insert into item values (1, 'acme')`)
    await long('savepoint b')
    await long(`insert into item values (2, 'acme')`)
    await long('rollback to b')
    await at.run(`insert into item values (3, 'acme')`)
    const first = await keys(since)
    await long(`insert into item values (4, 'acme')`)
    await long('commit')
    const second = await keys(first.cursor)
    expect([first.keys, second.keys]).toEqual([['3'], ['1', '4']])
  })

  it('is delivered after it was prepared', async () => {
    const long = await at.session()
    const since = await head()
    await long('begin')
    await long(`insert into item values (1, 'acme')`)
    await long(`prepare transaction 'held'`)
    await at.run(`insert into item values (2, 'acme')`)
    const first = await keys(since)
    await long(`commit prepared 'held'`)
    expect([first.keys, (await keys(first.cursor)).keys]).toEqual([['2'], ['1']])
  })
})

describe('many stragglers', () => {
  it('are drained page by page while new entries and new stragglers arrive', async () => {
    const [one, two] = [await at.session(), await at.session()]
    const since = await head()
    await one('begin')
    await one(`insert into item select g, 'acme' from generate_series(1, 10) g`)
    await two('begin')
    await two(`insert into item select g, 'acme' from generate_series(11, 13) g`)
    await at.run(`insert into item values (100, 'acme')`)
    const first = await keys(since)
    expect(first.keys).toEqual(['100'])
    await one('commit')
    const seen: (string | null)[] = []
    let cursor = first.cursor
    let next = 101
    for (let i = 0; ; i++) {
      const got = page(await readChanges(at.feed, acme, { since: cursor, limit: 3 }))
      seen.push(...got.changes.map((c) => c.key))
      cursor = got.cursor
      // The second writer ends, and others begin and end, in the middle of the drain.
      if (i === 1) await two('commit')
      if (i < 3) await at.run(`insert into item values (${next++}, 'acme')`)
      if (!got.hasMore) break
    }
    expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual([
      ...Array.from({ length: 13 }, (_, i) => String(i + 1)),
      '101',
      '102',
      '103',
    ])
  })

  it('are drained to the moment the drain began, also when cut inside entries of both halves', async () => {
    const long = await at.session()
    const since = await head()
    await long('begin')
    await long(`insert into item select g, 'acme' from generate_series(1, 5) g`)
    await at.run(`insert into item select g, 'acme' from generate_series(101, 105) g`)
    // Cut in the fresh half, inside the second entry.
    const cut = page(await readChanges(at.feed, acme, { since, limit: 2 }))
    expect(cut.changes.map((c) => c.key)).toEqual(['101', '102'])
    await long('commit')
    const rest = await readAll(at.feed, acme, cut.cursor, 2)
    expect(rest.changes.map((c) => c.key)).toEqual(['1', '2', '3', '4', '5', '103', '104', '105'])
  })
})

describe('one row', () => {
  it('arrives in the order of its transactions', async () => {
    const [one, two] = [await at.session(), await at.session()]
    await at.run(`insert into item values (1, 'acme', '0')`)
    const since = await head()
    await one('begin')
    await one(`insert into note values (9, 'acme')`)
    await two('begin')
    await two(`update item set label = 'two' where id = 1`)
    await two('commit')
    await one(`update item set label = 'one' where id = 1`)
    await one('commit')
    await at.run(`delete from item where id = 1`)
    const { changes } = await readAll(at.feed, acme, since, 1)
    const row = changes.filter((c) => c.table === 'item')
    expect(row.map((c) => c.operation)).toEqual(['update', 'update', 'delete'])
    const positions = row.map((c) => BigInt(c.position.entry))
    expect(positions).toEqual(positions.toSorted((a, b) => (a < b ? -1 : 1)))
  })
})

describe('readers and writers', () => {
  it('never wait for each other', async () => {
    const [writer, blocked] = [await at.session(), await at.session()]
    await writer('begin')
    await writer(`insert into item values (1, 'acme')`)
    await blocked(`set lock_timeout = 1`)
    // Another writer of the same tenant, and readers of every audience, with the shortest patience.
    await blocked(`insert into item values (2, 'acme')`)
    await at.run(`set lock_timeout = 1`)
    await readChanges(at.feed, acme, { since: 'start' })
    await readChanges(at.feed, allTenants('test'), { since: 'start' })
    const { rows } = await blocked(`select count(*)::int as n from pg_locks where not granted`)
    expect(rows).toEqual([{ n: 0 }])
    await writer('rollback')
  })
})
