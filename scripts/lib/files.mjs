// @ts-check
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './process.mjs'

const SKIPPED = new Set(['node_modules', 'dist', '.git', '.turbo', '.local'])

/**
 * Files of the workspace whose path below it matches, sorted, with `/` between names. What is installed, built or
 * local is left out.
 *
 * @param {RegExp} pattern
 * @returns {string[]}
 */
export function findFiles(pattern) {
  return walk(root)
    .map((path) => relative(root, path).replaceAll('\\', '/'))
    .filter((path) => pattern.test(path))
    .sort()
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function walk(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? walk(path) : [path]
  })
}
