import { fileURLToPath } from 'node:url'
import type { CityCount } from './database/write-cities.ts'
import type { DatabaseChoice } from './database/open-database.ts'
import { DemoError } from './demo-error.ts'

/** Where the demo keeps its files unless `DEMO_DIR` names another folder: `.local` at the top of the repository. */
const defaultFolder = fileURLToPath(new URL('../../../../.local', import.meta.url))

const DEFAULT_PORT = 3000
const LEAST_SECRET_BYTES = 32

/** What the environment says, checked. */
export interface Settings {
  /** Folder for data and for the file that tells other programs where the demo runs. */
  readonly folder: string
  readonly database: DatabaseChoice
  readonly cities: CityCount
  readonly host: string
  /** The port to take; with `orNext` the first free one from there on. */
  readonly port: { readonly number: number; readonly orNext: boolean }
  /** What signs the tokens; `null`: one made at start, so that a restart signs everyone out. */
  readonly secret: Uint8Array | null
}

/**
 * Reads the settings.
 *
 * | variable | meaning | default |
 * |---|---|---|
 * | `PORT` | port of the page, 0 for any | 3000, or the next free one |
 * | `DATABASE_URL` | your own Postgres, an empty database | one of the demo's own |
 * | `DEMO_DB` | `postgres`, `pglite` (in a folder) or `pglite-memory` | `postgres` |
 * | `DEMO_DIR` | folder for the demo's files | `.local` |
 * | `DEMO_CITIES` | `all`, or how many of the largest | `all` |
 * | `DEMO_HOST` | address to listen on; there is no password, so think twice | `127.0.0.1` |
 * | `DEMO_SECRET` | what signs the tokens, 32 bytes or more | random |
 *
 * @throws {DemoError} naming the variable.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const folder = given(env['DEMO_DIR']) ?? defaultFolder
  return {
    folder,
    database: readDatabase(env, folder),
    cities: readCities(given(env['DEMO_CITIES'])),
    host: given(env['DEMO_HOST']) ?? '127.0.0.1',
    port: readPort(given(env['PORT'])),
    secret: readSecret(given(env['DEMO_SECRET'])),
  }
}

/** The connection string of `DATABASE_URL`, checked; `undefined` when it is not set. */
export function readDatabaseUrl(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const url = given(env['DATABASE_URL'])
  if (url !== undefined && !/^postgres(ql)?:\/\//.test(url)) {
    throw new DemoError('DATABASE_URL must look like postgres://user:password@host:5432/database.')
  }
  return url
}

function readDatabase(env: Readonly<Record<string, string | undefined>>, folder: string): DatabaseChoice {
  const url = readDatabaseUrl(env)
  const name = given(env['DEMO_DB'])
  if (url !== undefined && name !== undefined && name !== 'postgres') {
    throw new DemoError(`DATABASE_URL and DEMO_DB=${name} name two databases: unset one of them.`)
  }
  if (url !== undefined) return { kind: 'given', url }
  switch (name) {
    case undefined:
    case 'postgres':
      return { kind: 'embedded', folder }
    case 'pglite':
      return { kind: 'pglite', folder }
    case 'pglite-memory':
      return { kind: 'pglite', folder: null }
    default:
      throw new DemoError(`DEMO_DB must be postgres, pglite or pglite-memory, not "${name}".`)
  }
}

function readCities(value: string | undefined): CityCount {
  if (value === undefined || value === 'all') return 'all'
  return wholeNumber('DEMO_CITIES', value, 0, 1_000_000)
}

function readPort(value: string | undefined): Settings['port'] {
  if (value === undefined) return { number: DEFAULT_PORT, orNext: true }
  return { number: wholeNumber('PORT', value, 0, 65_535), orNext: false }
}

function readSecret(value: string | undefined): Uint8Array | null {
  if (value === undefined) return null
  const secret = new TextEncoder().encode(value)
  if (secret.byteLength < LEAST_SECRET_BYTES)
    throw new DemoError(`DEMO_SECRET must have at least ${LEAST_SECRET_BYTES} bytes.`)
  return secret
}

function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1
  if (number < least || number > most)
    throw new DemoError(`${name} must be a whole number from ${least} to ${most}, not "${value}".`)
  return number
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
