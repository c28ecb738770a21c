import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { settle } from '../support/fake-environment.ts'
import { deferred, following } from '../support/following.ts'
import { change, page } from '../support/scripted-sync.ts'

const ENTRY = JSON.stringify(['acme/u1', 'notes', 'shipments'])

describe('delivery', () => {
  it('moves and keeps the cursor only after every listener has ended', async () => {
    const store = memoryStore()
    const { sync, server, start } = following({ since: 'c0', store })
    const slow = deferred()
    sync.onChanges(async () => await slow.promise)
    await start()
    await server.last.answer(page('c1', [change('notes', '1')], true))
    expect(sync.cursor).toBeNull()
    expect(store.get(ENTRY)).toBeUndefined()
    expect(server.calls).toHaveLength(1)
    slow.resolve()
    await settle()
    expect(sync.cursor).toBe('c1')
    expect(store.get(ENTRY)).toBe('c1')
    expect(server.sinces).toStrictEqual(['c0', 'c1'])
  })

  it.each(['synchronously', 'later'])(
    'delivers the page again, with back-off, when a listener throws %s',
    async (when) => {
      const store = memoryStore()
      const { sync, server, environment, keys, errors, start } = following({ since: 'c0', store })
      let broken = true
      sync.onChanges(when === 'later' ? async () => await Promise.resolve().then(fail) : fail)
      function fail(): void {
        if (broken) throw new Error('disk full')
      }
      await start()
      for (const pause of [250, 500, 1_000]) {
        await server.last.answer(page('c1', [change('notes', '1')]))
        expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'listener' } })
        expect(environment.pending).toStrictEqual([pause])
        await environment.advance(pause)
      }
      expect(server.sinces).toStrictEqual(['c0', 'c0', 'c0', 'c0'])
      expect(store.get(ENTRY)).toBeUndefined()
      expect(errors[0]?.cause).toMatchObject({ message: 'disk full' })
      broken = false
      await server.last.answer(page('c1', [change('notes', '1')]))
      expect(keys).toStrictEqual(['1', '1', '1', '1'])
      expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null })
      expect(store.get(ENTRY)).toBe('c1')
    },
  )

  it('calls all listeners although one throws', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    const seen: string[] = []
    sync.onChanges(() => {
      throw new Error('no')
    })
    sync.onChanges(() => void seen.push('second'))
    await start()
    await server.last.answer(page('c1', [change('notes', '1')]))
    expect(seen).toStrictEqual(['second'])
  })

  it('tells listeners how the page stands, and nothing of empty pages', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    const events: unknown[] = []
    const remove = sync.onChanges(
      ({ changes, hasMore, upToDate }) => void events.push([changes.length, hasMore, upToDate]),
    )
    await start()
    await server.last.answer(page('c1', [change('notes', '1')], true))
    await server.last.answer(page('c2', [], true))
    await server.last.answer({ changes: [change('notes', '2')], cursor: 'c3', hasMore: false, upToDate: false })
    expect(events).toStrictEqual([
      [1, true, false],
      [1, false, false],
    ])
    expect(sync.getSnapshot().status).toBe('behind')
    remove()
    remove()
    sync.poll()
    await settle()
    await server.last.answer(page('c4', [change('notes', '3')]))
    expect(events).toHaveLength(2)
  })

  it('aborts the signal of a listener that outlives a stop, but not of one that has ended', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    const slow = deferred()
    const signals: AbortSignal[] = []
    sync.onChanges(async ({ signal, changes }) => {
      signals.push(signal)
      if (changes[0]?.key === '2') await slow.promise
    })
    await start()
    await server.last.answer(page('c1', [change('notes', '1')], true))
    await server.last.answer(page('c2', [change('notes', '2')]))
    sync.stop()
    expect(signals.map((signal) => signal.aborted)).toStrictEqual([false, true])
    slow.resolve()
    await settle()
    expect(sync.cursor).toBe('c1')
  })

  it('does not let a former delivery meet the next one', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    const slow = deferred()
    let running = 0
    let most = 0
    sync.onChanges(async () => {
      running += 1
      most = Math.max(most, running)
      await slow.promise
      running -= 1
    })
    await start()
    await server.last.answer(page('c1', [change('notes', '1')]))
    sync.stop()
    await start()
    await server.last.answer(page('c1', [change('notes', '1')]))
    expect(running).toBe(1)
    slow.resolve()
    await settle()
    expect(most).toBe(1)
    expect(sync.cursor).toBe('c1')
  })

  it('does not begin a delivery that was aborted while it waited for a former one', async () => {
    const { sync, server, keys, start } = following({ since: 'c0' })
    const slow = deferred()
    sync.onChanges(async () => await slow.promise)
    await start()
    await server.last.answer(page('c1', [change('notes', '1')]))
    sync.stop()
    await start()
    await server.last.answer(page('c1', [change('notes', '1')]))
    sync.stop()
    slow.resolve()
    await settle()
    expect(keys).toStrictEqual(['1'])
  })
})

describe('resync', () => {
  it('tells the listeners and continues at "from" exactly', async () => {
    const store = memoryStore()
    const { sync, server, environment, keys, resyncs, start } = following({ since: 'c0', store })
    await start()
    await server.last.answer({ resync: { reason: 'epoch', from: 'head-1' } })
    expect(resyncs).toStrictEqual(['epoch'])
    expect(server.sinces).toStrictEqual(['c0', 'head-1'])
    expect(store.get(ENTRY)).toBe('head-1')
    await server.last.answer(page('c9', [change('notes', '1')]))
    expect(keys).toStrictEqual(['1'])
    expect(sync.getSnapshot().status).toBe('upToDate')
    expect(environment.pending).toStrictEqual([2_000])
  })

  it('takes a resync long after the last one for a first one', async () => {
    const { sync, server, environment, resyncs, start } = following({ since: 'c0' })
    await start()
    for (let count = 1; count <= 6; count += 1) {
      await server.last.answer({ resync: { reason: 'pruned', from: `oldest${count}` } })
      expect(resyncs).toHaveLength(count)
      await server.last.answer(page(`c${count}`))
      expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null })
      await environment.advance(2_000)
    }
  })

  it('waits as long as the server asks before the listeners read anew', async () => {
    const { sync, server, environment, resyncs, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    await server.last.answer({ resync: { reason: 'epoch', from: 'head', retryAfterMs: 8_000 } })
    await environment.advance(8_000)
    expect(resyncs).toStrictEqual([])
    expect(sync.getSnapshot().status).toBe('behind')
    await environment.advance(250)
    expect(resyncs).toStrictEqual(['epoch'])
    expect(server.sinces).toStrictEqual(['c0', 'head'])
  })

  it('tells again, with back-off, when a listener throws', async () => {
    const { sync, server, environment, resyncs, start } = following({ since: 'c0' })
    let broken = true
    sync.onResync(() => {
      if (broken) throw new Error('offline')
    })
    await start()
    for (const pause of [250, 500]) {
      await server.last.answer({ resync: { reason: 'pruned', from: 'oldest' } })
      expect(environment.pending).toStrictEqual([pause])
      expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'listener' } })
      await environment.advance(pause)
    }
    broken = false
    await server.last.answer({ resync: { reason: 'pruned', from: 'oldest' } })
    expect(resyncs).toStrictEqual(['pruned', 'pruned', 'pruned'])
    expect(server.sinces).toStrictEqual(['c0', 'c0', 'c0', 'oldest'])
  })

  it('makes growing pauses between resyncs in a row, and shows it from the fifth on', async () => {
    const { sync, server, environment, resyncs, errors, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    const pauses: number[] = []
    for (let count = 1; count <= 50; count += 1) {
      await server.last.answer({ resync: { reason: 'epoch', from: `head${count}` } })
      const [pause = 0] = environment.pending
      if (pause !== 30_000 || count > 8) pauses.push(pause)
      if (count > 1) await environment.advance(pause)
      expect(sync.getSnapshot().status).toBe(count < 5 ? 'behind' : 'retrying')
    }
    expect(resyncs).toHaveLength(50)
    expect(pauses.slice(0, 7)).toStrictEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    expect(errors.map((error) => error.code)).toStrictEqual(Array.from({ length: 46 }, () => 'resyncLoop'))
    // The request is as long at the 50th as at the first.
    expect(server.last.input).toStrictEqual({ since: 'head50', tables: ['notes', 'shipments'] })
    await server.last.answer(page('c1'))
    expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null })
  })
})

describe('versions', () => {
  it('grow for the tables touched, once at the end of a run of pages', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    const seen: [number, number][] = []
    sync.subscribe(() => {
      const now: [number, number] = [sync.version('shipments'), sync.version('notes')]
      if (String(now) !== String(seen.at(-1))) seen.push(now)
    })
    await start()
    await server.last.answer(page('c1', [change('shipments', '1')], true))
    await server.last.answer(page('c2', [change('shipments', '2')], true))
    await server.last.answer(page('c3'))
    expect(seen).toStrictEqual([
      [0, 0],
      [1, 0],
    ])
  })

  it('grow for all tables at the start, at a resync and at another identity', async () => {
    const { sync, server, start } = following()
    const versions = (): number[] => [sync.version('shipments'), sync.version('notes')]
    await start()
    await server.last.answer(page('c1'))
    expect(versions()).toStrictEqual([1, 1])
    sync.poll()
    await server.last.answer({ resync: { reason: 'epoch', from: 'head' } })
    await server.last.answer(page('c2', [change('notes', '1')]))
    expect(versions()).toStrictEqual([2, 2])
    sync.setKey('acme/u2')
    expect(versions()).toStrictEqual([3, 3])
  })

  it('do not wait for the end of a run longer than 20 pages', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    await start()
    for (let count = 1; count <= 40; count += 1) {
      await server.last.answer(page(`c${count}`, [change('notes', String(count))], true))
      expect(sync.version('notes')).toBe(Math.floor(count / 20))
    }
  })

  it.each(['stop', 'hide', 'error', 'listener'])('do not get lost when a run of pages ends by %s', async (end) => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    if (end === 'listener') {
      sync.onChanges(() => {
        throw new Error('no')
      })
    }
    await start()
    if (end === 'hide') await environment.setVisible(false)
    await server.last.answer(page('c1', [change('notes', '1')], true))
    if (end === 'stop') sync.stop()
    if (end === 'error') await server.last.fail(new Error('gone'))
    expect(sync.version('notes')).toBe(1)
    expect(sync.version('shipments')).toBe(0)
  })
})
