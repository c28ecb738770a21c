import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TRPCError } from '@trpc/server'
import { describe, expect, it } from 'vitest'
import { createSyncClient, type ChangesInput } from '../src/index.ts'
import { FakeEnvironment } from './support/fake-environment.ts'
import { deferred } from './support/following.ts'
import {
  links,
  type Answering,
  plainClient,
  plainRouter,
  serve,
  superjsonClient,
  superjsonRouter,
  until,
} from './support/http-sync.ts'
import { change, page, type ScriptedSync, type Table } from './support/scripted-sync.ts'

const CURSOR = 'v1.é~%2B+/="\u2028'
interface Kind {
  readonly router: (answer: Answering) => Parameters<typeof serve>[0]
  readonly connect: (url: string) => Pick<ScriptedSync, 'changes'>
}
const kinds: [string, Kind][] = [
  ['no transformer', { router: plainRouter, connect: (url) => plainClient(url).sync }],
  ...(Object.keys(links) as (keyof typeof links)[]).map((link): [string, Kind] => [
    `superjson over ${link}`,
    { router: superjsonRouter, connect: (url) => superjsonClient(url, link).sync },
  ]),
]

describe.each(kinds)('over HTTP, %s', (_, { router, connect }) => {
  it('follows pages, sends each cursor to the character, and stops', async () => {
    const inputs: ChangesInput<Table>[] = []
    const answers = [
      page(CURSOR),
      page(`${CURSOR}2`, [change('shipments', '1')], true),
      page(`${CURSOR}3`, [change('notes', '["a","2"]')]),
    ]
    await using http = await serve(
      router((input) => {
        inputs.push(input)
        const answer = answers.shift()
        if (answer === undefined) throw new Error('no further answer was prepared')
        return answer
      }),
    )
    const environment = new FakeEnvironment()
    const sync = createSyncClient({ trpc: connect(http.url), tables: ['shipments', 'notes'], limit: 10, environment })
    const keys: unknown[] = []
    sync.onChanges(({ changes }) => void keys.push(...changes.map(({ key }) => key)))
    sync.start()
    await until(sync, ({ status }) => status === 'upToDate')
    expect(sync.cursor).toBe(CURSOR)
    await environment.advance(2_000)
    await until(sync, () => sync.cursor === `${CURSOR}3`)
    expect(keys).toStrictEqual(['1', '["a","2"]'])
    expect(inputs.map(({ since }) => since)).toStrictEqual(['now', CURSOR, `${CURSOR}2`])
    expect(inputs[0]).toStrictEqual({ since: 'now', tables: ['notes', 'shipments'], limit: 10 })
    sync.stop()
    expect(environment.pending).toStrictEqual([])
  })

  it('aborts the request on the server when stopped', async () => {
    const arrived = deferred()
    const aborted = deferred()
    await using http = await serve(
      router(async (_input, signal) => {
        signal.addEventListener('abort', () => aborted.resolve())
        arrived.resolve()
        await aborted.promise
        return page('late')
      }),
    )
    const sync = createSyncClient({ trpc: connect(http.url), environment: new FakeEnvironment() })
    sync.start()
    await arrived.promise
    sync.stop()
    await aborted.promise
    expect(sync.cursor).toBeNull()
    expect(sync.getSnapshot().status).toBe('idle')
  })

  it('reads the status and code of an error', async () => {
    await using http = await serve(
      router(() => {
        throw new TRPCError({ code: 'UNAUTHORIZED', message: 'expired' })
      }),
    )
    const sync = createSyncClient({ trpc: connect(http.url), environment: new FakeEnvironment() })
    sync.start()
    const snapshot = await until(sync, ({ status }) => status === 'retrying')
    expect(snapshot.error).toMatchObject({ code: 'unauthorized', httpStatus: 401 })
    sync.stop()
  })
})

describe('over HTTP', () => {
  it('sees the 401 of its own call inside a batch that succeeds as a whole', async () => {
    await using http = await serve(
      superjsonRouter(() => {
        throw new TRPCError({ code: 'UNAUTHORIZED', message: 'expired' })
      }),
    )
    const trpc = superjsonClient(http.url)
    const sync = createSyncClient({ trpc: trpc.sync, environment: new FakeEnvironment() })
    sync.start()
    const pong = await trpc.ping.query()
    const snapshot = await until(sync, ({ status }) => status === 'retrying')
    expect(pong).toBe('pong')
    expect(snapshot.error).toMatchObject({ code: 'unauthorized', httpStatus: 401 })
    expect(http.requests).toHaveLength(1)
    expect(http.requests[0]).toContain('batch=1')
    sync.stop()
  })

  const shape = {
    error: {
      message: 'busy',
      code: -32_603,
      data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, path: 'sync.changes' },
    },
  }
  it.each([
    ['a page of HTML', 502, 'text/html', '<html>bad gateway</html>', 'protocol', null, 100],
    ['an error of ours', 503, 'application/json', JSON.stringify([shape]), 'unavailable', 503, 5_000],
    ['another JSON', 503, 'application/json', '{"error":"busy"}', 'unavailable', 503, 5_000],
    ['another JSON', 404, 'application/json', '{"error":"no such path"}', 'rejected', 404, 5_250],
    ['another JSON', 200, 'application/json', '{"sign":"in"}', 'protocol', 200, 5_250],
  ])('takes %s with status %d for what it is', async (_, status, type, body, code, httpStatus, floor) => {
    await using http = await serve(superjsonRouter(() => page('c1')))
    http.intercept = (_request, response) => (
      response.writeHead(status, { 'content-type': type, 'retry-after': '5' }).end(body),
      true
    )
    const environment = new FakeEnvironment()
    environment.draw = 0
    const sync = createSyncClient({ trpc: superjsonClient(http.url).sync, environment })
    sync.start()
    const snapshot = await until(sync, (now) => now.status === 'retrying')
    expect(snapshot.error).toMatchObject({ code, httpStatus })
    expect(environment.pending).toStrictEqual([floor])
    http.intercept = null
    await environment.advance(floor)
    await until(sync, (now) => now.status === 'upToDate')
    sync.stop()
  })

  it('says that nothing answered when nothing listens', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const sync = createSyncClient({
      trpc: plainClient(`http://127.0.0.1:${port}`).sync,
      environment: new FakeEnvironment(),
    })
    sync.start()
    const { error } = await until(sync, ({ status }) => status === 'retrying')
    expect(error).toMatchObject({ code: 'network', httpStatus: null })
    sync.stop()
  })

  it('does not take the answer of a server with another transformer for a page', async () => {
    await using http = await serve(superjsonRouter(() => page('c1')))
    const sync = createSyncClient({ trpc: plainClient(http.url).sync, environment: new FakeEnvironment() })
    sync.start()
    const { error } = await until(sync, ({ status }) => status === 'retrying' || status === 'failed')
    expect(error).not.toBeNull()
    expect(sync.cursor).toBeNull()
    sync.stop()
  })
})
