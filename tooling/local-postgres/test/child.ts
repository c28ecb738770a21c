import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LocalPostgresOptions } from '../src/index.ts'

const TSX = import.meta.resolve('tsx')

/** What a child process tells about the server it started, or why it could not. */
export interface ChildReport {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  readonly code?: string
  readonly message?: string
}

/** Starts another Node process that starts a server and then waits for ever. */
export async function startInChild(
  options: LocalPostgresOptions,
  at: { source?: string; env?: Record<string, string> } = {},
): Promise<{ child: ChildProcess; report: ChildReport }> {
  const source = at.source ?? fileURLToPath(new URL('../src/index.ts', import.meta.url))
  const program = `
    import { startLocalPostgres } from ${JSON.stringify(source)}
    setInterval(() => {}, 1_000_000)
    try {
      const { url, pid, dataDir } = await startLocalPostgres(${JSON.stringify(options)})
      console.log(JSON.stringify({ url, pid, dataDir }))
    } catch (error) {
      console.log(JSON.stringify({ code: error.code, message: error.message }))
    }`
  const child = spawn(process.execPath, ['--import', TSX, '--input-type=module', '--eval', program], {
    env: { ...process.env, ...at.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const report = await new Promise<ChildReport>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('\n')) resolve(JSON.parse(output) as ChildReport)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the child ended with ${code} before it reported`)))
  })
  return { child, report }
}

/** Ends the child and waits until it is gone. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await gone
}

/** Whether a process with this id lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
