import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startLocalPostgres } from '../src/index.ts'
import { endChild, isAlive, startInChild } from './child.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-lifetime-test-'))
  await chmod(folder, 0o777)
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

describe('a server never outlives its process', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('that is ended by %s', async (signal) => {
    const { child, report } = await startInChild({})
    expect(isAlive(report.pid)).toBe(true)
    await endChild(child, signal)
    await vi.waitFor(() => expect([isAlive(report.pid), existsSync(report.dataDir)]).toEqual([false, false]), {
      timeout: 20_000,
      interval: 20,
    })
  })

  it('and a cluster that persists is shut down cleanly', async () => {
    const { child, report } = await startInChild({ dataDir: join(folder, 'cluster') })
    await endChild(child, 'SIGKILL')
    await vi.waitFor(() => expect(isAlive(report.pid)).toBe(false), { timeout: 20_000, interval: 20 })
    await using server = await startLocalPostgres({ dataDir: join(folder, 'cluster') })
    expect(await readFile(server.logFile, 'utf8')).not.toContain('automatic recovery in progress')
  })
})

describe('a data folder', () => {
  it('in use by a live process is refused, and that process goes on', async () => {
    const dataDir = join(folder, 'cluster')
    await using server = await startLocalPostgres({ dataDir })
    await expect(startLocalPostgres({ dataDir })).rejects.toMatchObject({
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(String(server.pid)) as string,
    })
    expect(isAlive(server.pid)).toBe(true)
  })

  it.runIf(process.platform === 'linux')('left with a running server by a dead process is taken over', async () => {
    const dataDir = join(folder, 'cluster')
    const { child, report } = await startInChild({ dataDir })
    const watchdog = await findWatchdog(report.pid)
    process.kill(watchdog, 'SIGKILL')
    await endChild(child, 'SIGKILL')
    expect(isAlive(report.pid)).toBe(true)
    await using server = await startLocalPostgres({ dataDir })
    expect(isAlive(report.pid)).toBe(false)
    expect(server.pid).not.toBe(report.pid)
  })
})

async function findWatchdog(serverPid: number): Promise<number> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    if (words.includes('tidemark-watchdog') && words.includes(String(serverPid))) return Number(pid)
  }
  throw new Error('no watchdog found')
}
