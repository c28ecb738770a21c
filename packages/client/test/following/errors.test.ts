import { describe, expect, it } from 'vitest'
import { following } from '../support/following.ts'
import { change, httpError, page } from '../support/scripted-sync.ts'

describe('faults that pass', () => {
  it('backs off with full jitter below a ceiling that doubles to 30 s, and starts anew after a page', async () => {
    const { sync, server, environment, errors, start } = following({ since: 'c0' })
    environment.draw = 0.999_999
    await start()
    const pauses: number[] = []
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await server.last.fail(new TypeError('fetch failed'))
      const [pause = 0] = environment.pending
      pauses.push(Math.round(pause))
      await environment.advance(pause)
    }
    expect(pauses).toStrictEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
    expect(errors).toHaveLength(9)
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'network', httpStatus: null } })
    expect(server.sinces.every((since) => since === 'c0')).toBe(true)

    await server.last.answer(page('c1'))
    expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null })
    await environment.advance(3_000)
    await server.last.fail(httpError(500))
    expect(Math.round(environment.pending[0] ?? 0)).toBe(500)
  })

  it('never makes a burst, even with the smallest draw', async () => {
    const { server, environment, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    for (let elapsed = 0; elapsed < 1_000; elapsed += 10) {
      if (environment.pending.length === 1 && environment.pending[0] === 30_000) await server.last.fail(httpError(503))
      await environment.advance(10)
    }
    expect(server.calls.length).toBeLessThanOrEqual(11)
  })

  it.each([408, 425, 429, 500, 502, 503, 504])('tries again after %d', async (status) => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    await start()
    await server.last.fail(httpError(status))
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'unavailable', httpStatus: status } })
    await environment.advance(500)
    expect(server.calls).toHaveLength(2)
  })

  it('aborts a request without an answer after timeoutMs', async () => {
    const { sync, server, environment, keys, start } = following({ since: 'c0', timeoutMs: 5_000 })
    await start()
    const { signal, answer } = server.last
    await environment.advance(4_999)
    expect(signal.aborted).toBe(false)
    await environment.advance(1)
    expect(signal.aborted).toBe(true)
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'timeout' } })
    await answer(page('late', [change('notes', 'late')]))
    expect(keys).toStrictEqual([])
    await environment.advance(500)
    expect(server.sinces).toStrictEqual(['c0', 'c0'])
  })
})

describe('what the server asks for', () => {
  const date = 'Mon, 30 Nov 2026 18:00:00 GMT'
  it.each([
    ['Retry-After in seconds', httpError(503, { headers: { 'retry-after': '5' } }), 5_000],
    [
      'Retry-After as a date',
      httpError(503, { headers: { 'retry-after': 'Mon, 30 Nov 2026 18:00:07 GMT', date } }),
      7_000,
    ],
    ['an expired date', httpError(503, { headers: { 'retry-after': 'Mon, 30 Nov 2026 17:59:00 GMT', date } }), 100],
    ["a date without the server's own", httpError(503, { headers: { 'retry-after': date } }), 100],
    ['an unreadable value', httpError(503, { headers: { 'retry-after': 'soon' } }), 100],
    [
      'retryAfterMs in the error',
      Object.assign(httpError(429), { data: { httpStatus: 429, retryAfterMs: 9_000 } }),
      9_000,
    ],
    ['more than an hour', httpError(429, { headers: { 'retry-after': '99999999999' } }), 3_600_000],
  ])('keeps %s as the floor', async (_, error, floor) => {
    const { server, environment, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    await server.last.fail(error)
    await environment.advance(floor - 1)
    expect(server.calls).toHaveLength(1)
    await environment.advance(1)
    expect(server.calls).toHaveLength(2)
  })

  it('waits after "held" and asks with the same cursor', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    await server.last.answer({ held: true, cursor: 'other', retryAfterMs: 1_500 })
    expect(sync.getSnapshot()).toMatchObject({ status: 'behind', error: null })
    await environment.advance(1_499)
    expect(server.calls).toHaveLength(1)
    await environment.advance(1)
    expect(server.sinces).toStrictEqual(['c0', 'c0'])
    await server.last.answer({ held: true, cursor: 'c0', retryAfterMs: 0 })
    await environment.advance(99)
    expect(server.calls).toHaveLength(2)
    await environment.advance(1)
    expect(server.calls).toHaveLength(3)
  })
})

describe('faults that someone has to mend', () => {
  it.each([400, 422])('stops at %d, and starts again only when told', async (status) => {
    const { sync, server, environment, errors, start } = following({ since: 'bad' })
    await start()
    await server.last.fail(httpError(status))
    expect(sync.getSnapshot()).toMatchObject({
      status: 'failed',
      error: { code: 'rejected', serverCode: null, httpStatus: status },
    })
    expect(errors).toHaveLength(1)
    await environment.advance(600_000)
    await environment.setVisible(false)
    await environment.setVisible(true)
    sync.poll()
    expect(server.calls).toHaveLength(1)
    expect(environment.listenerCount).toBe(0)
    await start()
    expect(server.calls).toHaveLength(2)
    expect(sync.getSnapshot()).toMatchObject({ status: 'connecting', error: null })
  })

  it('stops when the server says that the input is at fault, whatever the status', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    await start()
    await server.last.fail(httpError(413, { tidemark: { code: 'payloadTooLarge', retryable: false } }))
    expect(sync.getSnapshot()).toMatchObject({
      status: 'failed',
      error: { code: 'rejected', serverCode: 'payloadTooLarge', httpStatus: 413 },
    })
  })

  it.each([404, 405, 413])('goes on in growing pauses after %d, and says so', async (status) => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    environment.draw = 0
    await start()
    const pauses: number[] = []
    for (let attempt = 0; attempt < 9; attempt += 1) {
      await server.last.fail(httpError(status))
      pauses.push(environment.pending[0] ?? 0)
      await environment.advance(environment.pending[0] ?? 0)
    }
    expect(pauses).toStrictEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'rejected', httpStatus: status } })
  })

  it.each([
    ['nothing', undefined],
    ['a page of HTML', '<html></html>'],
    ['an empty object', {}],
    ['no cursor', { changes: [], hasMore: false, upToDate: true }],
    ['an empty cursor', { changes: [], cursor: '', hasMore: false, upToDate: true }],
    ['changes that are none', { changes: [1], cursor: 'c1', hasMore: false, upToDate: true }],
    ['no hasMore', { changes: [], cursor: 'c1', upToDate: true }],
    ['a resync to nowhere', { resync: { reason: 'epoch' } }],
    ['more to come, but no step further', { changes: [], cursor: 'c0', hasMore: true, upToDate: false }],
  ])('takes %s for no answer at all', async (_, output) => {
    const { sync, server, environment, keys, resyncs, start } = following({ since: 'c0' })
    await start()
    await server.last.answerAnything(output)
    expect(sync.getSnapshot()).toMatchObject({ status: 'retrying', error: { code: 'protocol' } })
    expect(keys).toStrictEqual([])
    expect(resyncs).toStrictEqual([])
    expect(environment.pending).toHaveLength(1)
    await environment.advance(500)
    expect(server.sinces).toStrictEqual(['c0', 'c0'])
  })
})

describe('telling of errors', () => {
  it('shows the state of now to onError, and lets it act', async () => {
    const { sync, server, start, errors } = following({ since: 'c0' })
    await start()
    const push = errors.push.bind(errors)
    errors.push = (error) => {
      expect(sync.getSnapshot()).toMatchObject({ status: 'failed', error })
      sync.stop()
      return push(error)
    }
    await server.last.fail(httpError(400))
    expect(errors).toHaveLength(1)
    expect(sync.getSnapshot().status).toBe('idle')
  })

  it('keeps what was thrown as the cause', async () => {
    const { server, start, errors } = following({ since: 'c0' })
    await start()
    const thrown = httpError(503)
    await server.last.fail(thrown)
    expect(errors[0]?.cause).toBe(thrown)
    expect(errors[0]?.message).toBe('the server answered 503')
  })
})
