import { describe, expect, it } from 'vitest'
import { createSyncClient } from '../../src/index.ts'
import { FakeEnvironment, settle } from '../support/fake-environment.ts'
import { following } from '../support/following.ts'
import { change, page, ScriptedSync } from '../support/scripted-sync.ts'

describe('polling', () => {
  it('does nothing before it is started', async () => {
    const { sync, server, environment } = following()
    await environment.advance(60_000)
    expect(server.calls).toHaveLength(0)
    expect(sync.getSnapshot()).toStrictEqual({ status: 'idle', error: null, storeError: null })
    expect(sync.cursor).toBeNull()
  })

  it("begins at 'now', follows full pages at once and then polls at the interval", async () => {
    const { sync, server, environment, keys, resyncs, start } = following()
    await start()
    expect(server.last.input).toStrictEqual({ since: 'now', tables: ['notes', 'shipments'] })
    expect(sync.getSnapshot().status).toBe('connecting')
    await server.last.answer(page('c1'))
    expect(resyncs).toStrictEqual(['start'])
    expect(sync.getSnapshot().status).toBe('upToDate')
    expect(environment.pending).toStrictEqual([2_000])

    await environment.advance(1_999)
    expect(server.calls).toHaveLength(1)
    await environment.advance(1)
    await server.last.answer(page('c2', [change('shipments', '1')], true))
    expect(sync.getSnapshot().status).toBe('behind')
    await server.last.answer(page('c3', [], true))
    await server.last.answer(page('c4', [change('notes', '2'), change('notes', '2')]))
    expect(server.sinces).toStrictEqual(['now', 'c1', 'c2', 'c3'])
    expect(keys).toStrictEqual(['1', '2', '2'])
    expect(sync.cursor).toBe('c4')
    expect(sync.getSnapshot().status).toBe('upToDate')
    expect(environment.pending).toStrictEqual([2_000])
  })

  it('draws the interval from ± 10 %', async () => {
    for (const [draw, expected] of [
      [0, 900],
      [0.5, 1_000],
      [0.999_999, 1_100],
    ] as const) {
      const { server, environment, start } = following({ intervalMs: 1_000 })
      environment.draw = draw
      await start()
      await server.last.answer(page('c1'))
      expect(environment.pending[0]).toBeCloseTo(expected, 2)
    }
  })

  it('never has two requests open, whoever asks', async () => {
    const { sync, server, environment, start } = following()
    await start()
    sync.start()
    sync.poll()
    sync.poll()
    await environment.setVisible(true)
    expect(server.calls).toHaveLength(1)
    // `poll` came after the request was sent: what it holds may be older than the caller's write, so one more follows.
    await server.last.answer(page('c1'))
    expect(server.sinces).toStrictEqual(['now', 'c1'])
    await server.last.answer(page('c2'))
    expect(server.calls).toHaveLength(2)
    sync.poll()
    expect(server.sinces).toStrictEqual(['now', 'c1', 'c2'])
    expect(environment.pending).toStrictEqual([30_000])
  })

  it('sends each cursor to the character, and given options only', async () => {
    const strange = '  ~%2B+/=é\u2028"c'
    const server = new ScriptedSync()
    const sync = createSyncClient({ trpc: server, since: strange, limit: 7 })
    sync.start()
    await settle()
    expect(server.last.input).toStrictEqual({ since: strange, limit: 7 })
    await server.last.answer(page(`${strange}2`, [], true))
    expect(server.last.input).toStrictEqual({ since: `${strange}2`, limit: 7 })
    sync.stop()
  })

  it('begins at a given cursor without a start resync', async () => {
    const { server, resyncs, start } = following({ since: 'c5' })
    await start()
    await server.last.answer(page('c6'))
    expect(resyncs).toStrictEqual([])
  })
})

describe('stopping', () => {
  it('aborts the request in flight and drops its answer', async () => {
    const { sync, server, environment, keys, start } = following({ since: 'c0' })
    await start()
    const { answer, signal } = server.last
    sync.stop()
    expect(signal.aborted).toBe(true)
    expect(sync.getSnapshot().status).toBe('idle')
    await answer(page('late', [change('notes', 'late')]))
    expect(keys).toStrictEqual([])
    expect(sync.cursor).toBeNull()
    expect(environment.pending).toStrictEqual([])
    expect(environment.listenerCount).toBe(0)
  })

  it('ends any pause at once, and goes on where it stopped', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    await start()
    await server.last.answer(page('c1'))
    sync.stop()
    expect(environment.pending).toStrictEqual([])
    await environment.advance(600_000)
    expect(server.calls).toHaveLength(1)
    await start()
    expect(server.sinces).toStrictEqual(['c0', 'c1'])
    expect(sync.getSnapshot().status).toBe('connecting')
  })

  it('drops the answer of a former run even when a new request is open', async () => {
    const { sync, server, keys, start } = following({ since: 'c0' })
    await start()
    const former = server.last
    sync.stop()
    await start()
    await former.answer(page('late', [change('notes', 'late')]))
    expect(server.calls).toHaveLength(2)
    await server.last.answer(page('c1', [change('notes', '1')]))
    expect(keys).toStrictEqual(['1'])
    expect(sync.cursor).toBe('c1')
  })

  it('may be called from inside any callback', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    const unsubscribe = sync.subscribe(() => sync.stop())
    await start()
    expect(sync.getSnapshot().status).toBe('idle')
    unsubscribe()
    sync.onChanges(() => sync.stop())
    await start()
    await server.last.answer(page('c1', [change('notes', '1')], true))
    expect(sync.getSnapshot().status).toBe('idle')
    expect(environment.pending).toStrictEqual([])
    expect(sync.cursor).toBeNull()
  })
})

describe('an environment that calls back at once', () => {
  it('leaves no timer behind', async () => {
    const server = new ScriptedSync()
    const environment = new FakeEnvironment()
    const timers: number[] = []
    const sync = createSyncClient({
      trpc: server,
      since: 'c0',
      intervalMs: 1_000,
      timeoutMs: 5_000,
      environment: {
        ...environment,
        // The middle of the range, which is the interval itself.
        random: () => 0.5,
        setTimer: (callback, ms) => {
          timers.push(ms)
          if (ms === 1_000) sync.poll()
          return environment.setTimer(callback, ms)
        },
      },
    })
    sync.start()
    await settle()
    await server.last.answer(page('c1'))
    // Reading the cursor, the request, the pause in which `poll` is called, and the request that it asked for.
    expect(timers).toStrictEqual([5_000, 5_000, 1_000, 5_000])
    expect(server.sinces).toStrictEqual(['c0', 'c1'])
    expect(environment.pending).toStrictEqual([5_000])
    sync.stop()
    expect(environment.pending).toStrictEqual([])
  })
})

describe('retain', () => {
  it('follows as long as someone holds on', async () => {
    const { sync, server } = following({ since: 'c0' })
    const releases = [1, 2, 3].map(() => sync.retain())
    await settle()
    expect(server.calls).toHaveLength(1)
    for (const release of releases.slice(1)) release()
    for (const release of releases.slice(1)) release()
    await settle()
    expect(sync.getSnapshot().status).toBe('connecting')
    releases[0]?.()
    await settle()
    expect(sync.getSnapshot().status).toBe('idle')
    expect(server.last.signal.aborted).toBe(true)
  })

  it('survives a hand-over within one tick', async () => {
    const { sync, server } = following({ since: 'c0' })
    sync.retain()()
    const release = sync.retain()
    await settle()
    expect(server.calls).toHaveLength(1)
    expect(server.last.signal.aborted).toBe(false)
    release()
    await settle()
    expect(sync.getSnapshot().status).toBe('idle')
  })

  it('leaves a started client running, and a stopped one stopped until all have let go', async () => {
    const { sync, server } = following({ since: 'c0' })
    sync.start()
    sync.retain()()
    await settle()
    expect(sync.getSnapshot().status).toBe('connecting')

    const release = sync.retain()
    sync.stop()
    sync.retain()()
    await settle()
    expect(sync.getSnapshot().status).toBe('idle')
    release()
    await settle()
    sync.retain()
    await settle()
    expect(sync.getSnapshot().status).toBe('connecting')
    expect(server.calls).toHaveLength(2)
  })

  it('does not start a failed client again with every further holder', async () => {
    const { sync, server } = following({ since: 'c0' })
    sync.retain()
    await settle()
    await server.last.fail(Object.assign(new Error('refused'), { data: { httpStatus: 400 } }))
    sync.retain()
    await settle()
    expect(server.calls).toHaveLength(1)
    expect(sync.getSnapshot().status).toBe('failed')
  })
})

describe('options', () => {
  const server = new ScriptedSync()
  const wrong: [string, () => unknown][] = [
    ['"tables"', () => createSyncClient({ trpc: server, tables: [] })],
    ['"limit"', () => createSyncClient({ trpc: server, limit: 0 })],
    ['"limit"', () => createSyncClient({ trpc: server, limit: 5_001 })],
    ['"limit"', () => createSyncClient({ trpc: server, limit: 1.5 })],
    ['"intervalMs"', () => createSyncClient({ trpc: server, intervalMs: 99 })],
    ['"intervalMs"', () => createSyncClient({ trpc: server, intervalMs: Number.NaN })],
    ['"timeoutMs"', () => createSyncClient({ trpc: server, timeoutMs: 2 ** 31 })],
    ['"since"', () => createSyncClient({ trpc: server, since: '' })],
    // @ts-expect-error a store needs a key
    ['"key"', () => createSyncClient({ trpc: server, store: { get: () => null, set: () => {}, delete: () => {} } })],
  ]
  it.each(wrong)('refuses a wrong %s, naming it', (name, create) => {
    expect(create).toThrow(TypeError)
    expect(create).toThrow(name)
  })
})
