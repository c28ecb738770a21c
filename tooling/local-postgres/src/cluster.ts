import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chown, lstat, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Binaries } from './binaries.ts'
import { LocalPostgresError } from './errors.ts'
import { reachableTempFolder } from './reachable-copy.ts'
import { canPass, idsOf, type ServerUser } from './server-user.ts'

const PASSWORD_FILE = 'tidemark-password'

/** A created cluster: its folder and the password of its superuser `postgres`. */
export interface Cluster {
  readonly dataDir: string
  readonly password: string
  /** False when it was there already. */
  readonly created: boolean
}

/**
 * Where the cluster for `asked` lives: there, if the server's user can reach it; else in a folder of the same
 * identity below the system's lasting temp folder (root's server cannot pass through a folder of mode 0700).
 */
export async function placeDataDir(asked: string | undefined, user: ServerUser): Promise<string> {
  if (asked === undefined) {
    const folder = await mkdtemp(join(reachableTempFolder(user), 'tidemark-pg-'))
    await giveTo(user, folder)
    return join(folder, 'data')
  }
  const wanted = resolve(asked)
  await mkdir(dirname(wanted), { recursive: true })
  if (canPass(user, dirname(wanted))) return wanted
  const lasting = ['/var/tmp', '/tmp'].find((folder) => canPass(user, folder)) ?? reachableTempFolder(user)
  const identity = createHash('sha256').update(wanted).digest('hex').slice(0, 12)
  const home = join(lasting, `tidemark-pg-${process.getuid?.() ?? 0}-${identity}`)
  await mkdir(home, { mode: 0o700 }).catch(ignoreExisting)
  await assertOwned(home, user)
  await giveTo(user, home)
  return join(home, basename(wanted))
}

/** Opens the cluster in the folder, or creates it: completely or not at all, whenever the process may die. */
export async function openCluster(
  dataDir: string,
  binaries: Binaries,
  user: ServerUser,
  initdbArgs: readonly string[],
): Promise<Cluster> {
  const present = existsSync(dataDir) ? await readdir(dataDir) : []
  if (present.includes('PG_VERSION')) return await openExisting(dataDir, binaries)
  if (present.length > 0) {
    throw new LocalPostgresError(
      'DATA_DIR_FOREIGN',
      `${dataDir} is not empty and holds no Postgres cluster. Name another folder, or empty it.`,
    )
  }
  const password = randomBytes(12).toString('hex')
  const building = `${dataDir}.init-${randomBytes(6).toString('hex')}`
  try {
    await mkdir(building, { mode: 0o700 })
    await giveTo(user, building)
    await runInitdb(join(building, 'data'), join(building, 'password'), password, binaries, user, initdbArgs)
    const passwordFile = join(building, 'data', PASSWORD_FILE)
    await writeFile(passwordFile, password, { mode: 0o600 })
    await giveTo(user, passwordFile)
    await rename(join(building, 'data'), dataDir)
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return { dataDir, password, created: true }
}

async function openExisting(dataDir: string, binaries: Binaries): Promise<Cluster> {
  const version = Number.parseInt(await readFile(join(dataDir, 'PG_VERSION'), 'utf8'), 10)
  if (version !== binaries.major) {
    throw new LocalPostgresError(
      'DATA_DIR_FOREIGN',
      `${dataDir} holds a cluster of Postgres ${version}, but version ${binaries.major} was to be started. Name another folder, or remove it.`,
    )
  }
  try {
    return { dataDir, password: await readFile(join(dataDir, PASSWORD_FILE), 'utf8'), created: false }
  } catch (cause) {
    throw new LocalPostgresError(
      'DATA_DIR_FOREIGN',
      `${dataDir} holds a cluster that was not made here (no ${PASSWORD_FILE}). Name another folder.`,
      { cause },
    )
  }
}

async function runInitdb(
  dataDir: string,
  passwordFile: string,
  password: string,
  binaries: Binaries,
  user: ServerUser,
  initdbArgs: readonly string[],
): Promise<void> {
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  await giveTo(user, passwordFile)
  const args = [
    '-D',
    dataDir,
    '-U',
    'postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...initdbArgs,
  ]
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const child = spawn(binaries.initdb, args, {
    ...idsOf(user),
    cwd: dirname(dataDir),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = await new Promise<number | Error | null>((done) => child.once('error', done).once('close', done))
  if (ended !== 0) {
    const reason = ended instanceof Error ? ended.message : output.trim().split('\n').slice(-12).join('\n')
    throw new LocalPostgresError('INITDB_FAILED', `initdb could not create a cluster in ${dataDir}: ${reason}`)
  }
}

async function giveTo(user: ServerUser, path: string): Promise<void> {
  if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid)
}

async function assertOwned(folder: string, user: ServerUser): Promise<void> {
  const stats = await lstat(folder)
  const allowed = [process.getuid?.(), user.uid]
  if (stats.isDirectory() && allowed.includes(stats.uid) && (stats.mode & 0o022) === 0) return
  throw new LocalPostgresError(
    'DATA_DIR_FOREIGN',
    `${folder} belongs to somebody else. Remove it, or name another data folder.`,
  )
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
