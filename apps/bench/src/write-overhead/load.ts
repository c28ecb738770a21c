import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Reply, Request, Slice, SliceResult } from './messages.ts'

/** The load generator as its parent sees it. */
export class Load implements AsyncDisposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts the process and opens its connections. */
  static async start(options: { url: string; connections: number; readServerCpu: boolean }): Promise<Load> {
    const load = new Load(
      fork(fileURLToPath(new URL('./generator.ts', import.meta.url)), {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    await load.#ask({ kind: 'open', ...options })
    return load
  }

  async run(slice: Slice): Promise<SliceResult> {
    const reply = await this.#ask({ kind: 'run', slice })
    if (reply.kind !== 'result') throw new Error('unexpected answer of the load generator')
    return reply.result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) await this.#ask({ kind: 'close' }).catch(() => {})
    if (this.#child.connected) this.#child.disconnect()
  }

  #ask(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const gone = (code: number | null): void => reject(new Error(`the load generator ended with ${code}`))
      this.#child.once('exit', gone)
      this.#child.once('message', (reply: Reply) => {
        this.#child.off('exit', gone)
        if (reply.kind === 'failed') reject(new Error(`the load generator failed: ${reply.message}`))
        else resolve(reply)
      })
      this.#child.send(request)
    })
  }
}
