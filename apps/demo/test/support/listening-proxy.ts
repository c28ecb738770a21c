import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it came by. */
export interface Heard {
  readonly path: string
  readonly authorization: string | undefined
}

/** Stands between a client and the demo, and writes down what comes by. */
export async function openListeningProxy(
  target: string,
): Promise<AsyncDisposable & { readonly url: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    heard.push({ path: request.url ?? '', authorization: request.headers.authorization })
    void forward(target, request).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      response.end(await answer.text())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function forward(target: string, request: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const { authorization, 'content-type': type } = request.headers
  const headers = { ...(authorization && { authorization }), ...(type && { 'content-type': type }) }
  const body = request.method === 'POST' ? { body: Buffer.concat(chunks) } : {}
  return await fetch(target + (request.url ?? ''), { method: request.method ?? 'GET', headers, ...body })
}
