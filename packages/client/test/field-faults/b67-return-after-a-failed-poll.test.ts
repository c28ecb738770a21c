import { describe, expect, it } from 'vitest'
import { following } from '../support/following.ts'
import { change, httpError, page } from '../support/scripted-sync.ts'

const MINUTES = 60_000

// A failed poll in a hidden tab waited for a focus that did not come, and polling never started again.
describe('B67: a tab that was hidden, or a device that was offline', () => {
  it('asks exactly once, at once, when the tab comes back after a 500', async () => {
    const { sync, server, environment, keys, start } = following({ since: 'c0' })
    await start()
    await environment.setVisible(false)
    await server.last.fail(httpError(500))
    expect(sync.getSnapshot()).toMatchObject({ status: 'paused', reason: 'hidden' })
    await environment.advance(5 * MINUTES)
    expect(server.calls).toHaveLength(1)

    await environment.setVisible(true)
    expect(server.calls).toHaveLength(2)
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { httpStatus: 500 } })
    // The browser says `online` and `visible` in any order and more than once.
    await environment.setVisible(true)
    await environment.setOnline(true)
    await server.last.answer(page('c1', [change('notes', '1')]))
    expect(keys).toStrictEqual(['1'])
    expect(server.calls).toHaveLength(2)
    // Then the ordinary rhythm: no burst for the ticks that were missed.
    await environment.advance(10_000)
    expect(server.calls).toHaveLength(3)
    expect(environment.pending).toHaveLength(1)
  })

  it.each(['hidden', 'offline'] as const)('pauses between two polls while %s', async (why) => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    const set = async (active: boolean): Promise<void> =>
      why === 'hidden' ? await environment.setVisible(active) : await environment.setOnline(active)
    await start()
    await server.last.answer(page('c1'))
    await set(false)
    expect(sync.getSnapshot()).toMatchObject({ status: 'paused', reason: why })
    expect(environment.pending).toStrictEqual([])
    await environment.advance(60 * MINUTES)
    expect(server.calls).toHaveLength(1)
    await set(true)
    expect(server.sinces).toStrictEqual(['c0', 'c1'])
    expect(sync.getSnapshot().status).toBe('connecting')
  })

  it('aborts a request that lost its network, and asks once on return', async () => {
    const { sync, server, environment, keys, start } = following({ since: 'c0' })
    await start()
    const lost = server.last
    await environment.setOnline(false)
    expect(lost.signal.aborted).toBe(true)
    expect(sync.getSnapshot()).toMatchObject({ status: 'paused', reason: 'offline' })
    await environment.setOnline(true)
    await lost.answer(page('late', [change('notes', 'late')]))
    expect(server.sinces).toStrictEqual(['c0', 'c0'])
    expect(keys).toStrictEqual([])
  })

  it('stays paused until it is both visible and online', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    await environment.setVisible(false)
    await environment.setOnline(false)
    await start()
    expect(sync.getSnapshot()).toMatchObject({ status: 'paused', reason: 'offline' })
    await environment.setOnline(true)
    expect(sync.getSnapshot()).toMatchObject({ status: 'paused', reason: 'hidden' })
    expect(server.calls).toHaveLength(0)
    await environment.setVisible(true)
    expect(server.calls).toHaveLength(1)
  })

  it('ends a page that is under way, then pauses before the next', async () => {
    const { sync, server, environment, keys, start } = following({ since: 'c0' })
    await start()
    await environment.setVisible(false)
    await server.last.answer(page('c1', [change('notes', '1')], true))
    expect(keys).toStrictEqual(['1'])
    expect(sync.cursor).toBe('c1')
    expect(server.calls).toHaveLength(1)
    await environment.setVisible(true)
    expect(server.sinces).toStrictEqual(['c0', 'c1'])
  })

  it('does not shorten a pause that the server asked for', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    await server.last.fail(httpError(503, { headers: { 'retry-after': '60' } }))
    for (let times = 0; times < 20; times += 1) {
      await environment.setVisible(false)
      await environment.setVisible(true)
    }
    expect(server.calls).toHaveLength(1)
    expect(sync.getSnapshot().status).toBe('retrying')
    await environment.advance(60_000)
    expect(server.calls).toHaveLength(2)

    // When it ends in the dark, the return is at once.
    await server.last.fail(httpError(503, { headers: { 'retry-after': '60' } }))
    await environment.setVisible(false)
    await environment.advance(5 * MINUTES)
    expect(server.calls).toHaveLength(2)
    await environment.setVisible(true)
    expect(server.calls).toHaveLength(3)
  })

  it('reads anew on return when a resync was due in the dark', async () => {
    const { sync, server, environment, resyncs, start } = following({ since: 'c0' })
    await start()
    await server.last.answer({ resync: { reason: 'epoch', from: 'head', retryAfterMs: 10_000 } })
    await environment.setVisible(false)
    await environment.advance(5 * MINUTES)
    expect(resyncs).toStrictEqual([])
    await environment.setVisible(true)
    expect(resyncs).toStrictEqual(['epoch'])
    expect(server.sinces).toStrictEqual(['c0', 'head'])
    expect(sync.cursor).toBe('head')
  })
})
