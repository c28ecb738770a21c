import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const appFolder = fileURLToPath(new URL('../..', import.meta.url))

/** A program of the demo, running in a process of its own. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** All it has printed so far. */
  output(): string
  /** Waits until it has printed `text`; rejects when it ends without. */
  until(text: string): Promise<void>
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Starts `src/server/<file>` as the package's scripts do. Nothing of this process's environment chooses its database. */
export function startProgram(
  file: 'main.ts' | 'seed.ts',
  env: Record<string, string>,
  args: readonly string[] = [],
): Program {
  const { DATABASE_URL: _database, PORT: _port, ...inherited } = process.env
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=@tidemark/source', '--import', 'tsx', `src/server/${file}`, ...args],
    { cwd: appFolder, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  const watchers = new Set<() => void>()
  const hear = (chunk: Buffer): void => {
    output += chunk.toString()
    for (const watcher of [...watchers]) watcher()
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  )
  return {
    pid: child.pid ?? 0,
    output: () => output,
    until: (text) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          if (!output.includes(text)) return
          watchers.delete(watcher)
          resolve()
        }
        watchers.add(watcher)
        watcher()
        void ended.then((how) => reject(new Error(`ended with ${how} before it printed "${text}":\n${output}`)))
      }),
    kill: (signal) => void child.kill(signal),
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
    },
  }
}
