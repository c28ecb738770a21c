// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './process.mjs'

const ALLOWED = /^package\/(package\.json|LICENSE|README\.md|dist\/[\w./-]+\.(js|d\.ts|js\.map|d\.ts\.map))$/
const REQUIRED = ['package/package.json', 'package/LICENSE', 'package/README.md']

/**
 * Packs a package and looks at what would be published.
 *
 * @param {string} folder
 * @param {string} temp   where the tarball goes
 * @returns {Promise<{ problem: string | undefined, file?: string }>}
 */
export async function checkTarball(folder, temp) {
  const before = new Set(readdirSync(temp))
  const packed = await capture('pnpm', ['pack', '--pack-destination', temp], { cwd: folder })
  if (packed.code !== 0) return { problem: packed.output }
  const name = readdirSync(temp).find((entry) => entry.endsWith('.tgz') && !before.has(entry))
  if (name === undefined) return { problem: `pnpm pack made no tarball:\n${packed.output}` }
  const file = join(temp, name)

  const listing = await capture('tar', ['-tzf', file])
  const files = listing.output.trim().split('\n')
  const manifest = await capture('tar', ['-xzOf', file, 'package/package.json'])
  const problems = [
    ...files.filter((path) => !ALLOWED.test(path)).map((path) => `${path} should not be published`),
    ...REQUIRED.filter((path) => !files.includes(path)).map((path) => `${path} is missing`),
    ...['@tidemark/source', 'workspace:', 'catalog:']
      .filter((text) => withoutDevDependencies(manifest.output).includes(text))
      .map((text) => `the published manifest holds "${text}"`),
  ]
  return { problem: problems.length === 0 ? undefined : problems.join('\n'), file }
}

/** @param {string} manifest */
function withoutDevDependencies(manifest) {
  const { devDependencies: _, ...rest } = JSON.parse(manifest)
  return JSON.stringify(rest)
}
