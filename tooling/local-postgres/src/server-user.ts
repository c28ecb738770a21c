import { spawnSync } from 'node:child_process'
import { LocalPostgresError } from './errors.ts'

/** The operating-system user a server runs as; `undefined` ids mean "as this process". */
export interface ServerUser {
  readonly uid: number | undefined
  readonly gid: number | undefined
  readonly name: string
}

/**
 * Postgres refuses to run as root. So root starts it as `postgres`, or as `nobody` where there is no such user;
 * everyone else starts it as themselves.
 *
 * @throws LocalPostgresError `NO_SERVER_USER` when root has nobody to switch to, or may not switch.
 */
export function findServerUser(): ServerUser {
  if (process.getuid?.() !== 0) return { uid: undefined, gid: undefined, name: 'the current user' }
  for (const name of ['postgres', 'nobody']) {
    const uid = readId('-u', name)
    const gid = readId('-g', name)
    if (uid === undefined || gid === undefined || uid === 0) continue
    const probe = spawnSync('/bin/sh', ['-c', ':'], { uid, gid, cwd: '/', stdio: 'ignore' })
    if (probe.status === 0) return { uid, gid, name }
  }
  throw new LocalPostgresError(
    'NO_SERVER_USER',
    'Postgres refuses to run as root, and this process can switch neither to the user "postgres" nor to "nobody". ' +
      'Run as an ordinary user, or name a running server (TEST_DATABASE_URL for tests, DATABASE_URL for the demo).',
  )
}

/** Whether that user may pass through the folder; the system itself is asked, so lists of rights count too. */
export function canPass(user: ServerUser, folder: string): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', folder], { ...idsOf(user), cwd: '/', stdio: 'ignore' }).status ===
    0
  )
}

/** The ids as options of `spawn`, absent when the user does not change. */
export function idsOf(user: ServerUser): { uid?: number; gid?: number } {
  return user.uid === undefined || user.gid === undefined ? {} : { uid: user.uid, gid: user.gid }
}

function readId(flag: '-u' | '-g', name: string): number | undefined {
  const answer = spawnSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return answer.status === 0 ? Number(answer.stdout.trim()) : undefined
}
