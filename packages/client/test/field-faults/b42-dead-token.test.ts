import { describe, expect, it } from 'vitest'
import { following } from '../support/following.ts'
import { httpError, page } from '../support/scripted-sync.ts'

// The retry after a 4xx had no delay: a dead token made thousands of requests a second.
describe('B42: a server that always answers 401 or 403', () => {
  for (const status of [401, 403]) {
    for (const draw of [0, 0.5, 0.999_999]) {
      it(`gets at most 10 requests in 10 s, in growing pauses, of ${status} with draw ${draw}`, async () => {
        const { sync, server, environment, errors, start } = following({ since: 'c0' })
        environment.draw = draw
        await start()
        const pauses: number[] = []
        while (environment.now < 10_000) {
          await server.last.fail(httpError(status))
          const [pause = 0] = environment.pending
          pauses.push(pause)
          await environment.advance(pause)
        }
        expect(server.calls.length).toBeLessThanOrEqual(10)
        expect(pauses).toStrictEqual([...pauses].sort((a, b) => a - b))
        expect(new Set(pauses).size).toBe(pauses.length)
        expect(sync.getSnapshot()).toMatchObject({
          status: 'retrying',
          error: { code: 'unauthorized', httpStatus: status },
        })
        expect(errors).toHaveLength(pauses.length)

        // However long it lasts, it does not stop for good, and never waits longer than a minute.
        for (let times = 0; times < 20; times += 1) {
          await server.last.fail(httpError(status))
          expect(environment.pending[0]).toBeLessThanOrEqual(60_000)
          await environment.advance(environment.pending[0] ?? 0)
        }
        await server.last.answer(page('c1'))
        expect(sync.getSnapshot()).toMatchObject({ status: 'upToDate', error: null })
      })
    }
  }

  it('ends at once, also during a pause', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    await start()
    await server.last.fail(httpError(401))
    expect(environment.pending).toHaveLength(1)
    sync.stop()
    expect(environment.pending).toHaveLength(0)
    await environment.advance(600_000)
    expect(server.calls).toHaveLength(1)
  })

  it('cannot be talked into a burst by poll()', async () => {
    const { sync, server, start } = following({ since: 'c0' })
    await start()
    await server.last.fail(httpError(401))
    for (let times = 0; times < 100; times += 1) sync.poll()
    expect(server.calls).toHaveLength(1)
  })

  it('stops after 400', async () => {
    const { sync, server, environment, start } = following({ since: 'c0' })
    await start()
    await server.last.fail(httpError(400))
    await environment.advance(600_000)
    expect(server.calls).toHaveLength(1)
    expect(sync.getSnapshot().status).toBe('failed')
  })
})
