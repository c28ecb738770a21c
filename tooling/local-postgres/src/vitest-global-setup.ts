import type { TestProject } from 'vitest/node'
import { probeServer } from './databases.ts'
import { LocalPostgresError } from './errors.ts'
import { startLocalPostgres, type LocalPostgres } from './start-local-postgres.ts'

/**
 * Gives the tests of a run one Postgres server, as `inject('pgUrl')`:
 * 1. the one of `TEST_DATABASE_URL`, when set (15 to 18, its user may create databases);
 * 2. else a new one, which `TIDEMARK_TEST_PG` chooses: `embedded` (default) or the system's `15` to `18`.
 *
 * Several projects of one run share it. It does not sync to disk: what is measured with fsync starts its own server.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') {
    const major = await probeServer(given, 'TEST_DATABASE_URL')
    if (major < 15)
      throw new LocalPostgresError(
        'NOT_REACHABLE',
        `TEST_DATABASE_URL names a Postgres ${major}; 15 or newer is needed.`,
      )
    project.provide('pgUrl', given)
    return async (): Promise<void> => {}
  }
  const shared = sharedServer()
  shared.users += 1
  const release = async (): Promise<void> => {
    shared.users -= 1
    if (shared.users > 0) return
    const starting = shared.server
    shared.server = undefined
    await (await starting)?.stop()
  }
  try {
    shared.server ??= startLocalPostgres({
      version: chosenVersion(process.env['TIDEMARK_TEST_PG']),
      settings: { fsync: 'off', full_page_writes: 'off' },
    })
    project.provide('pgUrl', (await shared.server).url)
  } catch (error) {
    shared.users -= 1
    shared.server = undefined
    throw error
  }
  return release
}

interface SharedServer {
  users: number
  server: Promise<LocalPostgres> | undefined
}

/** Each project loads this file anew, so what they share hangs on the process. */
function sharedServer(): SharedServer {
  const key = Symbol.for('tidemark.local-postgres.shared-server')
  const holder = globalThis as unknown as Record<symbol, SharedServer | undefined>
  return (holder[key] ??= { users: 0, server: undefined })
}

function chosenVersion(value: string | undefined): 'embedded' | 15 | 16 | 17 | 18 {
  switch (value) {
    case undefined:
    case '':
    case 'embedded':
      return 'embedded'
    case '15':
      return 15
    case '16':
      return 16
    case '17':
      return 17
    case '18':
      return 18
    default:
      throw new LocalPostgresError(
        'INVALID_OPTION',
        `TIDEMARK_TEST_PG must be embedded, 15, 16, 17 or 18, not "${value}".`,
      )
  }
}
