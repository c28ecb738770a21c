import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LocalPostgresError } from './errors.ts'

const OWNER_FILE = 'tidemark-owner.pid'
const FAST_SHUTDOWN_MS = 30_000
const IMMEDIATE_SHUTDOWN_MS = 10_000

/** Notes which process runs the server, for {@link stopLeftover}. */
export function writeOwner(dataDir: string): void {
  writeFileSync(join(dataDir, OWNER_FILE), `${process.pid}\n`, { mode: 0o600 })
}

/**
 * Stops a server that still runs on the folder although the process that had started it is gone (killed together
 * with its watchdog). Does nothing when none runs.
 *
 * @throws LocalPostgresError `DATA_DIR_IN_USE` when its owner is alive.
 */
export async function stopLeftover(dataDir: string): Promise<void> {
  const pid = readFirstNumber(join(dataDir, 'postmaster.pid'))
  if (pid === undefined || !isPostmasterOf(pid, dataDir)) return
  const owner = readFirstNumber(join(dataDir, OWNER_FILE))
  // An orphan gets a new parent, so "its parent is the recorded owner" also holds when process ids were reused.
  if (owner !== undefined && parentOf(pid) === owner) {
    throw new LocalPostgresError(
      'DATA_DIR_IN_USE',
      `${dataDir} is in use: process ${owner} runs a Postgres server on it (process ${pid}). Stop that one first, or use another folder.`,
    )
  }
  await shutDown(pid)
}

/** Fast shutdown (sessions are ended, data is flushed); immediate, then killed, when that takes too long. */
export async function shutDown(pid: number): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!sendSignal(pid, signal)) return
    const deadline = performance.now() + patience
    while (performance.now() < deadline) {
      if (!sendSignal(pid, 0)) return
      await delay(20)
    }
  }
  throw new LocalPostgresError(
    'START_FAILED',
    `The Postgres server of process ${pid} does not end, not even when killed.`,
  )
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    // EPERM: the id belongs to somebody else by now.
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

function isPostmasterOf(pid: number, dataDir: string): boolean {
  if (process.platform !== 'linux') return ps(pid, 'command').includes(dataDir)
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDir)
  } catch {
    return false
  }
}

function parentOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return Number(ps(pid, 'ppid'))
  try {
    // "pid (command) state ppid …"; the command may hold spaces and brackets.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
  } catch {
    return undefined
  }
}

function ps(pid: number, field: string): string {
  return spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
}

function readFirstNumber(file: string): number | undefined {
  try {
    const value = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return value > 1 ? value : undefined
  } catch {
    return undefined
  }
}
