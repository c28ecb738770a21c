import { once } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'

/*
 * Executes prepared statements with as little work as possible: the load generator shares the machine with the server, and what it burns would
 * hide part of what capture costs. `pg` connects and signs in; after that its stream is ours. One statement at a time, text parameters, no rows.
 */

const READY = 'Z'.charCodeAt(0)
const ERROR = 'E'.charCodeAt(0)
const COMPLETE = 'C'.charCodeAt(0)
const HEADER = 5

export class WireClient {
  /** Process id of the server's side. */
  readonly serverPid: number
  readonly #socket: Socket
  readonly #out: Buffer = Buffer.allocUnsafe(4096)
  readonly #prepared = new Set<string>()
  #rest: Buffer = Buffer.alloc(0)
  #affected = 0
  #failure: Error | null = null
  #resolve: ((affected: number) => void) | null = null
  #reject: ((error: Error) => void) | null = null

  private constructor(socket: Socket, serverPid: number) {
    this.#socket = socket
    this.serverPid = serverPid
    socket.removeAllListeners('data')
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('close', () => this.#reject?.(new Error('the server closed the connection')))
  }

  static async connect(url: string): Promise<WireClient> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    return new WireClient(stream, rows[0]?.pid ?? 0)
  }

  /** Runs a statement, prepared at its first use under `name`, and returns how many rows it wrote. */
  async execute(name: string, text: string, params: readonly string[]): Promise<number> {
    if (!this.#prepared.has(name)) {
      await this.#send(this.#parseMessage(name, text))
      this.#prepared.add(name)
    }
    return await this.#send(this.#executeMessages(name, params))
  }

  async end(): Promise<void> {
    this.#socket.end(Buffer.from([0x58, 0, 0, 0, 4]))
    if (!this.#socket.closed) await once(this.#socket, 'close')
  }

  #send(length: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#affected = 0
      this.#failure = null
      this.#socket.write(this.#out.subarray(0, length))
    })
  }

  #parseMessage(name: string, text: string): number {
    const body = Buffer.from(`${name}\0${text}\0\0\0`)
    this.#out[0] = 'P'.charCodeAt(0)
    this.#out.writeInt32BE(body.length + 4, 1)
    return this.#sync(HEADER + body.copy(this.#out, HEADER))
  }

  #executeMessages(name: string, params: readonly string[]): number {
    const out = this.#out
    let at = HEADER
    out[0] = 'B'.charCodeAt(0)
    out[at++] = 0
    at += out.write(name, at)
    out[at++] = 0
    at = out.writeInt16BE(0, at)
    at = out.writeInt16BE(params.length, at)
    for (const param of params) {
      const written = out.write(param, at + 4)
      out.writeInt32BE(written, at)
      at += 4 + written
    }
    at = out.writeInt16BE(0, at)
    out.writeInt32BE(at - 1, 1)
    // Execute: unnamed portal, all rows.
    out[at] = 'E'.charCodeAt(0)
    out.writeInt32BE(9, at + 1)
    out[at + 5] = 0
    out.writeInt32BE(0, at + 6)
    return this.#sync(at + 10)
  }

  #sync(at: number): number {
    this.#out[at] = 'S'.charCodeAt(0)
    return this.#out.writeInt32BE(4, at + 1)
  }

  #receive(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    let ready = false
    while (at + HEADER <= data.length) {
      const end = at + 1 + data.readInt32BE(at + 1)
      if (end > data.length) break
      const type = data[at]
      // "UPDATE 1": the last word counts the rows.
      if (type === COMPLETE)
        this.#affected = Number(data.toString('latin1', data.lastIndexOf(0x20, end - 2) + 1, end - 1))
      if (type === ERROR) this.#failure = new Error(data.toString('utf8', at + HEADER, end).replaceAll('\0', ' '))
      if (type === READY) ready = true
      at = end
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : data.subarray(at)
    if (!ready) return
    if (this.#failure === null) this.#resolve?.(this.#affected)
    else this.#reject?.(this.#failure)
  }
}
