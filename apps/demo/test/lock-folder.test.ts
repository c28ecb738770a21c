import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from '../src/server/database/lock-folder.ts'
import { FolderInUseError } from '../src/server/demo-error.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tidemark-demo-lock-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

test('a folder is one process’s at a time', async () => {
  const folder = join(home, 'data')
  const lock = await lockFolder(folder)
  expect(await readFile(`${folder}.lock`, 'utf8')).toBe(String(process.pid))
  await expect(lockFolder(folder)).rejects.toBeInstanceOf(FolderInUseError)
  await lock.release()
  expect(await readdir(home)).toEqual([])
  await (await lockFolder(folder)).release()
})

test('the lock of a process that is gone does not count', async () => {
  const folder = join(home, 'data')
  const gone = spawn(process.execPath, ['-e', ''])
  await once(gone, 'exit')
  await writeFile(`${folder}.lock`, String(gone.pid))
  const lock = await lockFolder(folder)
  expect(await readFile(`${folder}.lock`, 'utf8')).toBe(String(process.pid))
  await lock.release()
})
