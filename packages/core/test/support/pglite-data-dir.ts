import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'

const folder = fileURLToPath(new URL('../../node_modules/.cache/tidemark/', import.meta.url))

/**
 * An initialised, empty data folder of PGlite. Making one takes many seconds, loading one does not, so it is made once for each
 * version and kept.
 */
export async function initialisedDataDir(): Promise<Blob> {
  const file = `${folder}pglite-${await pgliteVersion()}.tar.gz`
  const kept = await readFile(file).catch(() => null)
  if (kept !== null) return new Blob([kept], { type: 'application/x-gzip' })
  const pglite = await PGlite.create()
  const dump = await pglite.dumpDataDir('gzip')
  await pglite.close()
  await mkdir(folder, { recursive: true })
  // Written completely or not at all: test files run beside each other.
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(unfinished, Buffer.from(await dump.arrayBuffer()))
  await rename(unfinished, file)
  return dump
}

async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const manifest = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')) as { version: string }
  return manifest.version
}
