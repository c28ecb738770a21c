// @ts-check
// Relative links and anchors in all Markdown, and every `docs/….md` that a source file cites, must exist.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { findFiles } from './lib/files.mjs'
import { root } from './lib/process.mjs'

/** @type {string[]} */
const broken = []
let checked = 0

for (const file of findFiles(/\.md$/)) {
  for (const { target, line } of linksOf(withoutCode(read(file)))) check(file, line, target, dirname(file))
}
for (const file of findFiles(/\.(ts|tsx|mjs|sql)$/)) {
  read(file)
    .split('\n')
    .forEach((text, index) => {
      for (const [cited] of text.matchAll(/\bdocs\/[\w./-]+\.md(#[\w-]+)?/g)) check(file, index + 1, cited, '.')
    })
}

for (const text of broken) console.error(text)
console.log(`${checked} links checked, ${broken.length} broken`)
if (broken.length > 0) process.exitCode = 1

/**
 * @param {string} file
 * @param {number} line
 * @param {string} target
 * @param {string} base
 */
function check(file, line, target, base) {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return
  checked += 1
  const [path = '', anchor] = decodeURI(target).split('#')
  const place = path === '' ? file : normalize(join(base, path))
  if (!existsSync(join(root, place))) broken.push(`${file}:${line}: ${target} does not exist`)
  else if (anchor && place.endsWith('.md') && !anchorsOf(place).has(anchor))
    broken.push(`${file}:${line}: ${target} has no such heading`)
  else if (place.startsWith('..')) broken.push(`${file}:${line}: ${target} leaves the repository`)
}

/** @param {string} file */
function read(file) {
  return readFileSync(join(root, file), 'utf8')
}

/**
 * Code keeps its lines, so that line numbers stay right, but loses its text.
 *
 * @param {string} text
 */
function withoutCode(text) {
  return text
    .replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '')
}

/**
 * @param {string} text
 * @returns {{ target: string, line: number }[]}
 */
function linksOf(text) {
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)
  const references = text.matchAll(/^\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)
  return [...inline, ...references].map((match) => ({
    target: match[1] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }))
}

/**
 * Anchors of headings as GitHub makes them.
 *
 * @param {string} file
 * @returns {Set<string>}
 */
function anchorsOf(file) {
  if (!statSync(join(root, file)).isFile()) return new Set()
  /** @type {Map<string, number>} */
  const seen = new Map()
  const headings = read(file)
    .replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)
  return new Set(
    [...headings].map((match) => {
      const slug = (match[1] ?? '')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-')
      const before = seen.get(slug) ?? 0
      seen.set(slug, before + 1)
      return before === 0 ? slug : `${slug}-${before}`
    }),
  )
}
