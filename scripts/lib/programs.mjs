// @ts-check
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * A program of the system that `test:systems` needs.
 *
 * @typedef {object} SystemProgram
 * @property {string} what
 * @property {string} aptPackage   Debian's package
 * @property {readonly string[]} looked   where it may be; the first that can be run is taken
 */

/** @returns {readonly SystemProgram[]} */
function programs() {
  const postgresFolder = process.env.TIDEMARK_PG_BIN || '/usr/lib/postgresql/15/bin'
  const chromium = process.env.TIDEMARK_CHROMIUM
  return [
    { what: 'Postgres 15', aptPackage: 'postgresql-15', looked: [join(postgresFolder, 'postgres')] },
    {
      what: 'Chromium',
      aptPackage: 'chromium',
      looked: chromium ? [chromium] : onPath(['chromium', 'chromium-browser', 'google-chrome']),
    },
  ]
}

/** What of it is not there. */
export function missingPrograms() {
  return programs().filter(({ looked }) => !looked.some(canRun))
}

/** @param {readonly string[]} names */
function onPath(names) {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/') && !folder.includes('node_modules'))
  return names.flatMap((name) => folders.map((folder) => join(folder, name)))
}

/** @param {string} path */
function canRun(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
