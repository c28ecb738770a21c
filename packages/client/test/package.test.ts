import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build as bundle } from 'esbuild'
import { build } from 'tsdown'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
/** A build takes as long as a busy machine needs. */
const TIMEOUT_MS = 180_000

async function bundled(code: string): Promise<{ text: string; gzipped: number; imports: string[] }> {
  const { outputFiles, metafile } = await bundle({
    stdin: { contents: code, resolveDir: root },
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    external: ['react'],
  })
  const text = outputFiles[0]?.text ?? ''
  const imports = new Set(Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path)))
  return { text, gzipped: gzipSync(text, { level: 9 }).byteLength, imports: [...imports] }
}

describe('what a page carries', { timeout: TIMEOUT_MS }, () => {
  it('is under 5 KB for the client, and under 0.7 KB more for the hooks', async () => {
    const client = await bundled("export { createSyncClient } from './src/index.ts'")
    const both = await bundled(
      "export { createSyncClient } from './src/index.ts'; export * from './src/react/index.ts'",
    )
    expect(client.gzipped).toBeLessThanOrEqual(5_120)
    expect(both.gzipped - client.gzipped).toBeLessThanOrEqual(700)
    expect(client.imports).toStrictEqual([])
    expect(both.imports).toStrictEqual(['react'])
  })

  it('reads no clock', async () => {
    const { text } = await bundled("export * from './src/index.ts'; export * from './src/react/index.ts'")
    // `Date.parse` reads the server's own header and no clock.
    expect(text.match(/\bDate\b(?!\.parse)|\bperformance\b|\bTemporal\b|timeStamp/g)).toBeNull()
  })
})

describe('what is published', { timeout: TIMEOUT_MS }, () => {
  it('names no package but react, also in its declarations', async () => {
    const outDir = await mkdtemp(join(tmpdir(), 'tidemark-client-'))
    try {
      await build({ cwd: root, outDir, logLevel: 'silent', clean: false })
      const files = await readdir(outDir)
      expect(files).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'react.js', 'react.d.ts']))
      const named = new Set<string>()
      for (const file of files) {
        const text = await readFile(join(outDir, file), 'utf8')
        for (const [, name] of text.matchAll(/(?:from|import)\s*\(?\s*["']([^"'.][^"']*)["']/g)) named.add(name ?? '')
      }
      expect([...named]).toStrictEqual(['react'])
    } finally {
      await rm(outDir, { recursive: true })
    }
  })
})
