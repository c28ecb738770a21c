import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTRPCClient, httpBatchLink, httpLink, type TRPCLink } from '@trpc/client'
import { initTRPC } from '@trpc/server'
import { createHTTPHandler } from '@trpc/server/adapters/standalone'
import superjson from 'superjson'
import type { ChangesInput, ChangesOutput, SyncSnapshot } from '../../src/index.ts'
import type { Table } from './scripted-sync.ts'

export type Answering = (
  input: ChangesInput<Table>,
  signal: AbortSignal,
) => ChangesOutput<Table> | Promise<ChangesOutput<Table>>

export interface HttpSync extends AsyncDisposable {
  readonly url: string
  /** What came over the wire: method, URL, headers and body, as text. */
  readonly requests: string[]
  /** Takes a request away from tRPC when it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
}

// Branches, not one builder with an optional transformer: the client's types depend on which it is.
const withSuperjson = initTRPC.create({ transformer: superjson })
const plain = initTRPC.create()

function inputOf(value: unknown): ChangesInput<Table> {
  if (typeof value !== 'object' || value === null || !('since' in value)) throw new Error('no input')
  return value as ChangesInput<Table>
}

/** A real tRPC server over HTTP whose `sync.changes` the test answers. */
export function superjsonRouter(answer: Answering) {
  return withSuperjson.router({
    ping: withSuperjson.procedure.query(() => 'pong'),
    sync: withSuperjson.router({
      changes: withSuperjson.procedure
        .input(inputOf)
        .query(async ({ input, signal }) => await answer(input, signal as AbortSignal)),
    }),
  })
}

export function plainRouter(answer: Answering) {
  return plain.router({
    ping: plain.procedure.query(() => 'pong'),
    sync: plain.router({
      changes: plain.procedure
        .input(inputOf)
        .query(async ({ input, signal }) => await answer(input, signal as AbortSignal)),
    }),
  })
}

export type SuperjsonRouter = ReturnType<typeof superjsonRouter>
export type PlainRouter = ReturnType<typeof plainRouter>

export async function serve(router: SuperjsonRouter | PlainRouter): Promise<HttpSync> {
  const handler = createHTTPHandler({ router, allowMethodOverride: true, onError: () => {} })
  const requests: string[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () =>
      requests.push([request.method, request.url, JSON.stringify(request.headers), body].join(' ')),
    )
    if (sync.intercept?.(request, response) !== true) handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const sync: HttpSync = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    intercept: null,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return sync
}

export const links = {
  httpLink: (url: string) => httpLink({ url, transformer: superjson }),
  httpBatchLink: (url: string) => httpBatchLink({ url, transformer: superjson }),
  'httpBatchLink by POST': (url: string) => httpBatchLink({ url, transformer: superjson, methodOverride: 'POST' }),
} satisfies Record<string, (url: string) => TRPCLink<SuperjsonRouter>>

export function superjsonClient(url: string, link: keyof typeof links = 'httpBatchLink') {
  return createTRPCClient<SuperjsonRouter>({ links: [links[link](url)] })
}

export function plainClient(url: string) {
  return createTRPCClient<PlainRouter>({ links: [httpBatchLink({ url })] })
}

/** Waits, without a clock, until the snapshot is as wanted. */
export async function until(
  sync: { subscribe(listener: () => void): () => void; getSnapshot(): SyncSnapshot },
  wanted: (snapshot: SyncSnapshot) => boolean,
): Promise<SyncSnapshot> {
  return await new Promise((resolve) => {
    const check = (): void => {
      const snapshot = sync.getSnapshot()
      if (!wanted(snapshot)) return
      unsubscribe()
      resolve(snapshot)
    }
    const unsubscribe = sync.subscribe(check)
    check()
  })
}
