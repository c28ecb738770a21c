import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'

const folder = fileURLToPath(new URL('../..', import.meta.url))

/** How a run ended. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `pnpm bench …` against the tests' server, as a process of its own. */
export function bench(...args: readonly string[]): Promise<Outcome> {
  const node = ['--conditions=@tidemark/source', '--import', 'tsx', 'src/main.ts', ...args]
  const env = { ...process.env, TEST_DATABASE_URL: inject('pgUrl'), NODE_OPTIONS: '' }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, node, { cwd: folder, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

/** The result of a run with `--json`. */
export function lastLine({ stdout }: Outcome): unknown {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}
