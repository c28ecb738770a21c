import { randomBytes } from 'node:crypto'
import { chmod, cp, lstat, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalPostgresError } from './errors.ts'
import { canPass, type ServerUser } from './server-user.ts'

/**
 * Copies a program folder (about 60 MB) to where the server's user can read it, once per release and owner, and
 * returns the copy. Two processes may do so at once: each copies under its own name and the first to rename wins.
 * A copy that belongs to somebody else or is not complete (temp cleaners remove single files) is never used.
 */
export async function reachableCopy(source: string, release: string, user: ServerUser): Promise<string> {
  const target = join(reachableTempFolder(user), `tidemark-postgres-${release}-${process.getuid?.() ?? 0}`)
  if (await isGoodCopy(source, target)) return target

  const fresh = `${target}.${randomBytes(6).toString('hex')}`
  await cp(source, fresh, { recursive: true, verbatimSymlinks: true })
  await chmod(fresh, 0o755)
  if (await tryRename(fresh, target)) return target
  if (await isGoodCopy(source, target)) {
    await rm(fresh, { recursive: true, force: true })
    return target
  }
  const stale = `${fresh}.stale`
  if (!(await tryRename(target, stale)) || !(await tryRename(fresh, target))) {
    throw new LocalPostgresError(
      'PROGRAM_MISSING',
      `The Postgres programs could not be copied to ${target}: something that is not ours stands there. Remove it, or set TMPDIR.`,
    )
  }
  await rm(stale, { recursive: true, force: true })
  return target
}

/**
 * A temp folder through which the server's user can pass: the process's own, or one of the system's.
 *
 * @throws LocalPostgresError `NO_SERVER_USER` when there is none.
 */
export function reachableTempFolder(user: ServerUser): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp']
  const found = candidates.find((folder) => canPass(user, folder))
  if (found !== undefined) return found
  throw new LocalPostgresError(
    'NO_SERVER_USER',
    `Postgres has to run as ${user.name}, who can reach none of ${candidates.join(', ')}. Set TMPDIR to a folder all users can pass.`,
  )
}

async function isGoodCopy(source: string, target: string): Promise<boolean> {
  try {
    const stats = await lstat(target)
    if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid) || (stats.mode & 0o022) !== 0)
      return false
    const [wanted, found] = await Promise.all([listing(source), listing(target)])
    return wanted === found
  } catch {
    return false
  }
}

async function listing(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true })
  const lines = await Promise.all(
    names.sort().map(async (name) => {
      const stats = await lstat(join(folder, name))
      return stats.isDirectory() ? name : `${name} ${stats.size}`
    }),
  )
  return lines.join('\n')
}

async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR' || code === 'EPERM') return false
    throw error
  }
}
