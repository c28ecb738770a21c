// @ts-check
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tsImport } from 'tsx/esm/api'

/**
 * @typedef {Record<string, string | Record<string, string>>} Exports
 * @typedef {{ exports: Exports, publishConfig: { exports: Exports } }} Manifest
 */

/**
 * The manifest's entries, those of the published manifest and those of the build say the same, both ways, and every file
 * they name exists (built ones only when there was a build). Nothing when all is well.
 *
 * @param {string} folder
 * @param {boolean} built
 * @returns {Promise<string | undefined>}
 */
export async function checkExports(folder, built) {
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = await buildEntries(folder)
  const published = manifest.publishConfig.exports
  /** @type {string[]} */
  const problems = []

  for (const [entry, conditions] of Object.entries(manifest.exports)) {
    if (typeof conditions === 'string') {
      if (published[entry] !== conditions) problems.push(`"${entry}" differs in publishConfig.exports`)
      continue
    }
    const { '@tidemark/source': source, ...others } = conditions
    const name = nameOf(entry)
    if (source === undefined) problems.push(`"${entry}" has no source condition`)
    else if (!existsSync(join(folder, source))) problems.push(`"${entry}": ${source} does not exist`)
    if (JSON.stringify(Object.keys(conditions)) !== JSON.stringify(['@tidemark/source', 'types', 'default'])) {
      problems.push(`"${entry}": conditions must be @tidemark/source, types, default, in this order`)
    }
    if (JSON.stringify(published[entry]) !== JSON.stringify(others))
      problems.push(`"${entry}" differs in publishConfig.exports`)
    if (others['types'] !== `./dist/${name}.d.ts` || others['default'] !== `./dist/${name}.js`) {
      problems.push(`"${entry}" must point to ./dist/${name}.d.ts and ./dist/${name}.js`)
    }
    if (`./${entries[name]}` !== source)
      problems.push(`tsdown.config.ts builds "${name}" from ${entries[name]}, the manifest says ${source}`)
    for (const file of built ? Object.values(others) : []) {
      if (!existsSync(join(folder, file))) problems.push(`"${entry}": ${file} was not built`)
    }
  }
  for (const entry of Object.keys(published)) {
    if (manifest.exports[entry] === undefined) problems.push(`publishConfig.exports has "${entry}", exports has not`)
  }
  for (const name of Object.keys(entries)) {
    if (!Object.keys(manifest.exports).some((entry) => nameOf(entry) === name))
      problems.push(`tsdown.config.ts builds "${name}", which no entry names`)
  }
  return problems.length === 0 ? undefined : problems.join('\n')
}

/** @param {string} entry */
function nameOf(entry) {
  return entry === '.' ? 'index' : entry.slice('./'.length)
}

/**
 * @param {string} folder
 * @returns {Promise<Record<string, string>>}
 */
async function buildEntries(folder) {
  // tsx runs the configuration file; this Node may not know TypeScript.
  const { default: config } = await tsImport(pathToFileURL(join(folder, 'tsdown.config.ts')).href, import.meta.url)
  return config.entry
}
