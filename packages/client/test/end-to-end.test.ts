import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSyncClient, memoryStore } from '../src/index.ts'
import { FakeEnvironment } from './support/fake-environment.ts'
import { freight } from './support/freight.ts'
import { until } from './support/http-sync.ts'

describe('against a real feed', () => {
  let app: Awaited<ReturnType<typeof freight>>
  beforeAll(async () => {
    app = await freight()
  })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
  })

  it('brings each company its own changes and those of everyone, and nothing else', async () => {
    const environment = new FakeEnvironment()
    const seen: Record<string, string[]> = { acme: [], globex: [] }
    const syncs = Object.entries(seen).map(([company, list]) => {
      const sync = createSyncClient({
        trpc: app.client(() => company).sync,
        tables: ['shipments', 'cities'],
        environment,
      })
      sync.onChanges(
        ({ changes }) =>
          void list.push(
            ...changes.map(({ operation, table, key, global }) => `${operation} ${table} ${key} ${global}`),
          ),
      )
      sync.start()
      return sync
    })
    for (const sync of syncs) await until(sync, ({ status }) => status === 'upToDate')
    await app.db.insertInto('shipments').values({ id: 1, company_id: 'acme', updated_at: '2024-03-10' }).execute()
    await app.db.insertInto('shipments').values({ id: 2, company_id: 'globex', updated_at: '2024-03-10' }).execute()
    await app.db.insertInto('notes').values({ shipment_id: 1, n: 1, company_id: 'acme' }).execute()
    await app.db.insertInto('cities').values({ id: 7, name: 'Ghent' }).execute()
    await app.db.updateTable('shipments').set({ company_id: 'globex' }).where('id', '=', 1).execute()
    await environment.advance(2_200)
    for (const sync of syncs) {
      await until(sync, () => sync.version('shipments') === 2 && sync.version('cities') === 2)
      sync.stop()
    }
    expect(seen['acme']).toStrictEqual(['create shipments 1 false', 'create cities 7 true', 'delete shipments 1 false'])
    expect(seen['globex']).toStrictEqual([
      'create shipments 2 false',
      'create cities 7 true',
      'create shipments 1 false',
    ])
  })

  it('shows a sign-in that has ended, keeps its cursor, and goes on after the next', async () => {
    const environment = new FakeEnvironment()
    let company: string | null = 'acme'
    const sync = createSyncClient({ trpc: app.client(() => company).sync, tables: ['shipments'], environment })
    const seen: (string | null)[] = []
    sync.onChanges(({ changes }) => void seen.push(...changes.map(({ key }) => key)))
    sync.start()
    await until(sync, ({ status }) => status === 'upToDate')
    const { cursor } = sync
    company = null
    await environment.advance(2_200)
    const { error } = await until(sync, ({ status }) => status === 'retrying')
    expect(error).toMatchObject({ code: 'unauthorized', httpStatus: 401, serverCode: 'unauthorized' })
    expect(sync.cursor).toBe(cursor)
    await app.db.insertInto('shipments').values({ id: 50, company_id: 'acme', updated_at: '2024-03-10' }).execute()
    company = 'acme'
    await environment.advance(1_000)
    await until(sync, ({ status }) => status === 'upToDate')
    sync.stop()
    expect(seen).toStrictEqual(['50'])
  })

  it('gives a former identity no say after setKey', async () => {
    const store = memoryStore()
    const environment = new FakeEnvironment()
    let company = 'acme'
    const sync = createSyncClient({
      trpc: app.client(() => company).sync,
      store,
      key: 'acme/u1',
      environment,
    })
    const resyncs: string[] = []
    sync.onResync(({ reason }) => void resyncs.push(reason))
    sync.start()
    await until(sync, ({ status }) => status === 'upToDate')
    const formerCursor = sync.cursor
    const before = app.requests.length
    sync.poll()
    company = 'globex'
    sync.setKey('globex/u2')
    // The turn of the batching link, by the real clock: it runs now, for nobody.
    await new Promise((resolve) => setTimeout(resolve))
    await environment.advance(20)
    await until(sync, ({ status }) => status === 'upToDate')
    sync.stop()
    // The poll of the former was aborted, maybe before it left; what the server saw of globex holds no cursor of acme.
    const asGlobex = app.requests.flatMap(({ headers }, index) =>
      index >= before && headers.authorization === 'globex' ? [app.inputs()[index]?.since] : [],
    )
    expect(asGlobex).toStrictEqual(['now'])
    expect(resyncs).toStrictEqual(['start', 'start'])
    expect(store.get(JSON.stringify(['acme/u1', '*']))).toBe(formerCursor)
    expect(store.get(JSON.stringify(['globex/u2', '*']))).toBe(sync.cursor)
  })

  it('stops at a cursor that is none, and forget() leads out of it', async () => {
    const environment = new FakeEnvironment()
    const store = memoryStore()
    void store.set(JSON.stringify(['acme/u1', 'shipments']), 'no cursor at all')
    const sync = createSyncClient({
      trpc: app.client(() => 'acme').sync,
      tables: ['shipments'],
      store,
      key: 'acme/u1',
      environment,
    })
    const resyncs: string[] = []
    sync.onResync(({ reason }) => void resyncs.push(reason))
    sync.start()
    const { error } = await until(sync, ({ status }) => status === 'failed')
    expect(error).toMatchObject({ code: 'rejected', httpStatus: 400, serverCode: 'invalidCursor' })
    await sync.forget()
    await environment.advance(20)
    await until(sync, ({ status }) => status === 'upToDate')
    sync.stop()
    expect(resyncs).toStrictEqual(['start'])
    expect(store.get(JSON.stringify(['acme/u1', 'shipments']))).toBe(sync.cursor)
  })

  it('resyncs once when the same key is used with the token of another company', async () => {
    const store = memoryStore()
    const follow = async (company: string): Promise<string[]> => {
      const sync = createSyncClient({
        trpc: app.client(() => company).sync,
        store,
        key: 'same',
        environment: new FakeEnvironment(),
      })
      const resyncs: string[] = []
      sync.onResync(({ reason }) => void resyncs.push(reason))
      sync.start()
      await until(sync, ({ status }) => status === 'upToDate')
      sync.stop()
      return resyncs
    }
    expect(await follow('acme')).toStrictEqual(['start'])
    expect(await follow('globex')).toStrictEqual(['audience'])
    expect(await follow('globex')).toStrictEqual([])
  })
})
