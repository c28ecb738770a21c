import { describe, expect, it } from 'vitest'
import { createSyncClient, memoryStore, webStorageStore, type CursorStore } from '../../src/index.ts'
import { settle } from '../support/fake-environment.ts'
import { deferred, following } from '../support/following.ts'
import { change, page, ScriptedSync } from '../support/scripted-sync.ts'

const ENTRY = JSON.stringify(['acme/u1', 'notes', 'shipments'])

describe('the stored cursor', () => {
  it('is where a new client goes on, to the character and without a start resync', async () => {
    const store = memoryStore()
    void store.set(ENTRY, ' c7~')
    const { server, resyncs, start } = following({ store })
    await start()
    expect(server.sinces).toStrictEqual([' c7~'])
    await server.last.answer(page('c8'))
    expect(resyncs).toStrictEqual([])
    expect(store.get(ENTRY)).toBe('c8')
  })

  it('is not used under another key or for other tables', async () => {
    const store = memoryStore()
    void store.set(ENTRY, 'c7')
    const other = following({ store, key: 'acme/u2' })
    await other.start()
    expect(other.server.sinces).toStrictEqual(['now'])
    for (const tables of [['shipments'], undefined] as const) {
      const server = new ScriptedSync()
      createSyncClient({ trpc: server, store, key: 'acme/u1', ...(tables === undefined ? {} : { tables }) }).start()
      await settle()
      expect(server.sinces).toStrictEqual(['now'])
    }
    const reordered = new ScriptedSync()
    createSyncClient({ trpc: reordered, store, key: 'acme/u1', tables: ['shipments', 'notes', 'shipments'] }).start()
    await settle()
    expect(reordered.sinces).toStrictEqual(['c7'])
  })

  it('is written behind: a slow store delays no request, and of the cursors that wait only the last is written', async () => {
    const first = deferred()
    const written: string[] = []
    const store: CursorStore = {
      ...memoryStore(),
      set: async (_, cursor) => {
        written.push(cursor)
        if (written.length === 1) await first.promise
      },
    }
    const { sync, server, start } = following({ since: 'c0', store })
    await start()
    for (const cursor of ['c1', 'c2', 'c3', 'c4']) await server.last.answer(page(cursor, [], true))
    expect(server.sinces.at(-1)).toBe('c4')
    expect(written).toStrictEqual(['c1'])
    sync.stop()
    first.resolve()
    await settle()
    expect(written).toStrictEqual(['c1', 'c4'])
  })

  it('is not written when it did not change', async () => {
    let writes = 0
    const { sync, server, start } = following({
      since: 'c0',
      store: { ...memoryStore(), set: () => void (writes += 1) },
    })
    await start()
    for (let count = 0; count < 3; count += 1) {
      await server.last.answer(page('c1'))
      sync.poll()
    }
    expect(writes).toBe(1)
  })
})

describe('a store that fails', () => {
  const broken = (method: 'get' | 'set' | 'delete', how: 'throws' | 'rejects'): CursorStore => ({
    ...memoryStore(),
    [method]: () => {
      const error = new DOMException('quota', 'QuotaExceededError')
      if (how === 'throws') throw error
      return Promise.reject(error)
    },
  })

  it.each(['throws', 'rejects'] as const)(
    'shows it when writing %s, and following goes on from memory',
    async (how) => {
      const { sync, server, environment, errors, keys, start } = following({ since: 'c0', store: broken('set', how) })
      await start()
      await server.last.answer(page('c1', [change('notes', '1')]))
      expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null, storeError: { code: 'store' } })
      expect(errors.map((error) => error.code)).toStrictEqual(['store'])
      expect(errors[0]?.cause).toMatchObject({ name: 'QuotaExceededError' })
      await environment.advance(2_000)
      await server.last.answer(page('c2', [change('notes', '2')]))
      expect(server.sinces).toStrictEqual(['c0', 'c1'])
      expect(keys).toStrictEqual(['1', '2'])
      sync.stop()
      await start()
      expect(server.sinces).toStrictEqual(['c0', 'c1', 'c2'])
    },
  )

  it.each(['throws', 'rejects'] as const)('shows it when reading %s, and begins at since', async (how) => {
    const { sync, server, errors, start } = following({ store: broken('get', how) })
    await start()
    expect(server.sinces).toStrictEqual(['now'])
    expect(sync.getSnapshot()).toMatchObject({ status: 'connecting', storeError: { code: 'store' } })
    expect(errors).toHaveLength(1)
    // The next cursor that is kept takes the error away.
    await server.last.answer(page('c1'))
    expect(sync.getSnapshot()).toStrictEqual({ status: 'upToDate', error: null, storeError: null })
  })

  it('does not wait for a store that never answers', async () => {
    const { sync, server, environment, start } = following({
      store: { ...memoryStore(), get: () => new Promise(() => {}) },
    })
    await start()
    expect(server.calls).toHaveLength(0)
    await environment.advance(30_000)
    expect(server.sinces).toStrictEqual(['now'])
    expect(sync.getSnapshot().storeError?.code).toBe('store')
  })

  it('lets forget() say that the cursor may still be there', async () => {
    const { sync } = following({ store: broken('delete', 'throws') })
    await expect(sync.forget()).rejects.toMatchObject({ name: 'SyncClientError', code: 'store' })
    expect(sync.getSnapshot().storeError?.code).toBe('store')
  })
})

describe('another identity', () => {
  it('aborts and drops what belongs to the former, and goes on with its own cursor', async () => {
    const store = memoryStore()
    void store.set(JSON.stringify(['acme/u2', 'notes', 'shipments']), 'u2-c4')
    const { sync, server, environment, keys, start } = following({ since: 'c0', store })
    await start()
    await server.last.answer(page('u1-c1', [change('notes', 'of u1')]))
    sync.poll()
    const former = server.last
    sync.setKey('acme/u2')
    expect(former.signal.aborted).toBe(true)
    expect(sync.cursor).toBeNull()
    expect(sync.getSnapshot().status).toBe('connecting')
    await former.answer(page('u1-c2', [change('notes', 'late, of u1')]))
    // Nothing leaves in the turn in which the former's request was aborted: a batching link would send both.
    expect(server.last).toBe(former)
    await environment.advance(20)
    expect(server.last.input.since).toBe('u2-c4')
    await server.last.answer(page('u2-c5', [change('notes', 'of u2')]))
    expect(keys).toStrictEqual(['of u1', 'of u2'])
    expect(store.get(ENTRY)).toBe('u1-c1')
    expect(store.get(JSON.stringify(['acme/u2', 'notes', 'shipments']))).toBe('u2-c5')
  })

  it('keeps a delivery that ends late from moving the cursor', async () => {
    const store = memoryStore()
    const { sync, server, environment, start } = following({ since: 'c0', store })
    const slow = deferred()
    sync.onChanges(async () => await slow.promise)
    await start()
    await server.last.answer(page('u1-c1', [change('notes', '1')]))
    sync.setKey('acme/u2')
    slow.resolve()
    await environment.advance(20)
    expect(sync.cursor).toBeNull()
    expect(store.get(ENTRY)).toBeUndefined()
    expect(server.sinces).toStrictEqual(['c0', 'now'])
  })

  it('changes nothing when it is the same, and refuses to be nobody while there is a store', async () => {
    const { sync, server, environment, start } = following({ since: 'c0', store: memoryStore() })
    await start()
    sync.setKey('acme/u1')
    await environment.advance(20)
    expect(server.calls).toHaveLength(1)
    expect(server.last.signal.aborted).toBe(false)
    expect(() => sync.setKey('')).toThrow('"key"')
  })

  it('finds its own latest cursor when it comes back before that was written', async () => {
    const slow = deferred()
    const inner = memoryStore()
    const store: CursorStore = {
      ...inner,
      set: async (entry, cursor) => {
        await slow.promise
        await inner.set(entry, cursor)
      },
    }
    const { sync, server, environment, start } = following({ since: 'c0', store })
    await start()
    await server.last.answer(page('u1-c1'))
    sync.setKey('acme/u2')
    sync.setKey('acme/u1')
    await environment.advance(20)
    expect(server.calls).toHaveLength(1)
    slow.resolve()
    await settle()
    expect(server.sinces).toStrictEqual(['c0', 'u1-c1'])
  })

  it('is remembered by a client that is not running', async () => {
    const store = memoryStore()
    const { sync, server, environment, start } = following({ since: 'c0', store })
    await start()
    await server.last.answer(page('u1-c1'))
    sync.stop()
    sync.setKey('acme/u2')
    await environment.advance(20)
    expect(server.calls).toHaveLength(1)
    expect(sync.getSnapshot().status).toBe('idle')
    expect(environment.pending).toStrictEqual([])
    await start()
    // Not at `since`, which is a cursor of the former.
    expect(server.sinces).toStrictEqual(['c0', 'now'])
  })
})

describe('forget', () => {
  it("begins at 'start' again where that is since", async () => {
    const { sync, server, environment, start } = following({ since: 'start' })
    await start()
    await server.last.answer(page('c1'))
    sync.setKey('acme/u2')
    await environment.advance(20)
    expect(server.sinces).toStrictEqual(['start', 'start'])
  })

  it('drops the cursor from memory and store and begins at since', async () => {
    const store = memoryStore()
    const { sync, server, environment, resyncs, start } = following({ store })
    await start()
    await server.last.answer(page('c1'))
    expect(store.get(ENTRY)).toBe('c1')
    await sync.forget()
    await environment.advance(20)
    expect(store.get(ENTRY)).toBeUndefined()
    expect(server.sinces).toStrictEqual(['now', 'now'])
    await server.last.answer(page('c2'))
    expect(resyncs).toStrictEqual(['start', 'start'])
  })

  it('leaves nothing behind, also of cursors that were still to be written', async () => {
    const slow = deferred()
    const inner = memoryStore()
    const store: CursorStore = {
      ...inner,
      set: async (entry, cursor) => {
        await slow.promise
        await inner.set(entry, cursor)
      },
    }
    const { sync, server, start } = following({ since: 'c0', store })
    await start()
    await server.last.answer(page('c1', [], true))
    await server.last.answer(page('c2'))
    sync.stop()
    const forgotten = sync.forget()
    slow.resolve()
    await forgotten
    await settle()
    expect(inner.get(ENTRY)).toBeUndefined()
  })

  it('leads out of a failure by a bad cursor', async () => {
    const store = memoryStore()
    void store.set(ENTRY, 'garbage')
    const { sync, server, environment, start } = following({ store })
    await start()
    await server.last.fail(
      Object.assign(new Error('bad'), { data: { httpStatus: 400, tidemark: { code: 'invalidCursor' } } }),
    )
    expect(sync.getSnapshot()).toMatchObject({ status: 'failed', error: { serverCode: 'invalidCursor' } })
    await sync.forget()
    await environment.advance(20)
    expect(server.sinces).toStrictEqual(['garbage', 'now'])
  })
})

describe('webStorageStore', () => {
  it('keeps each entry as an item of its own, and asks for the storage each time', () => {
    const items = new Map<string, string>()
    const storage = {
      getItem: (name: string) => items.get(name) ?? null,
      setItem: (name: string, value: string) => void items.set(name, value),
      removeItem: (name: string) => void items.delete(name),
    }
    let asked = 0
    const store = webStorageStore(() => ((asked += 1), storage), { prefix: 'app/' })
    expect(store.get('a')).toBeNull()
    void store.set('a', 'c1')
    void webStorageStore(storage).set('a', 'c2')
    expect([...items]).toStrictEqual([
      ['app/a', 'c1'],
      ['tidemark:a', 'c2'],
    ])
    expect(store.get('a')).toBe('c1')
    void store.delete('a')
    expect([...items.keys()]).toStrictEqual(['tidemark:a'])
    expect(asked).toBe(4)
  })

  it('survives a browser that forbids storage', async () => {
    const forbidden = webStorageStore(() => {
      throw new DOMException('denied', 'SecurityError')
    })
    const { sync, server, start } = following({ store: forbidden })
    await start()
    await server.last.answer(page('c1'))
    expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', storeError: { code: 'store' } })
  })
})
