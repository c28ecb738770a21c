import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A listening server of one test. */
export interface TestServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:41234`, without a slash at the end. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts a real server on a free port. A handler that rejects fails the test run, as one that throws does.
 */
export async function listen(
  app: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>,
): Promise<TestServer> {
  const server = createServer((req, res) => void app(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close, [Symbol.asyncDispose]: close }
}

/** An answer, complete and untouched. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; throws when it is none. */
  readonly json: unknown
}

/** What `send` may send beside the URL. */
export interface SendOptions {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders | readonly string[]
  readonly body?: string | Buffer
  /** Request target in place of the URL's path, sent as it is. */
  readonly target?: string
}

/** Sends one request without the help, and the corrections, of `fetch`. */
export async function send(
  url: string,
  { method = 'GET', headers = {}, body, target }: SendOptions = {},
): Promise<Answer> {
  const options = {
    method,
    headers: headers as OutgoingHttpHeaders,
    agent: false,
    ...(target === undefined ? {} : { path: target }),
  }
  const sent = request(url, options)
  sent.end(body)
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text)
    },
  }
}

/** Sends JSON by POST. */
export function post(url: string, body: unknown, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Sends a query by GET, its input in the URL. */
export function get(url: string, input?: unknown, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`
  return send(`${url}${query}`, { headers })
}
