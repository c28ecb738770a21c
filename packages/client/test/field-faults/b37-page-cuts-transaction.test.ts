import { expect, it } from 'vitest'
import { createSyncClient, memoryStore } from '../../src/index.ts'
import { FakeEnvironment } from '../support/fake-environment.ts'
import { freight } from '../support/freight.ts'
import { until } from '../support/http-sync.ts'

// The page limit cut a transaction, and the rest was skipped or half applied.
it('B37: one transaction of 25 rows in pages of 10, and a reader that leaves after page 1 and returns', async () => {
  await using app = await freight()
  const trpc = app.client(() => 'acme')
  const head = await trpc.sync.changes.query({ since: 'now' })
  if (!('changes' in head)) throw new Error('the head was not served')
  const store = memoryStore()
  const seen: string[] = []
  const pages: [number, boolean][] = []
  const follow = (stopAfterFirst: boolean) => {
    const sync = createSyncClient({
      trpc: trpc.sync,
      tables: ['shipments', 'notes'],
      since: head.cursor,
      limit: 10,
      store,
      key: 'acme/u1',
      environment: new FakeEnvironment(),
    })
    sync.onChanges(({ changes, upToDate }) => {
      pages.push([changes.length, upToDate])
      seen.push(...changes.map(({ table, key }) => `${table} ${key}`))
    })
    sync.subscribe(() => {
      if (stopAfterFirst && sync.cursor !== null) sync.stop()
    })
    sync.start()
    return sync
  }

  await app.db.transaction().execute(async (trx) => {
    await trx
      .insertInto('shipments')
      .values(Array.from({ length: 15 }, (_, index) => ({ id: index, company_id: 'acme', updated_at: '2024-03-10' })))
      .execute()
    for (let n = 0; n < 10; n += 1)
      await trx.insertInto('notes').values({ shipment_id: 1, n, company_id: 'acme' }).execute()
  })

  const first = follow(true)
  await until(first, () => first.cursor !== null && first.getSnapshot().status === 'idle')
  expect(pages).toStrictEqual([[10, false]])
  const second = follow(false)
  await until(second, ({ status }) => status === 'upToDate')
  second.stop()

  expect(new Set(seen).size).toBe(25)
  expect(seen).toHaveLength(25)
  // Nothing is said to be complete before it is.
  expect(pages).toStrictEqual([
    [10, false],
    [10, false],
    [5, true],
  ])
  expect(seen).toContain('notes ["1","9"]')
  expect(
    app
      .inputs()
      .map(({ since }) => since)
      .slice(0, 2),
  ).toStrictEqual(['now', head.cursor])
  expect(app.inputs().at(-2)?.since).toBe(first.cursor)
})
