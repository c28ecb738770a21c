import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PgliteDialect } from '@tidemark/core/pglite'
import { LocalPostgresError, startLocalPostgres } from '@tidemark/local-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { DemoError, FolderInUseError } from '../demo-error.ts'
import type { Database } from './database.ts'
import { lockFolder } from './lock-folder.ts'

/** Which database the demo works on. */
export type DatabaseChoice =
  /** A Postgres of its own, its data in `<folder>/demo-postgres`. */
  | { readonly kind: 'embedded'; readonly folder: string }
  /** Somebody's Postgres. */
  | { readonly kind: 'given'; readonly url: string }
  /** PGlite, Postgres inside this process, its data in `<folder>/demo-pglite` or in memory. */
  | { readonly kind: 'pglite'; readonly folder: string | null }

/** An open database. */
export interface OpenDatabase {
  readonly db: Kysely<Database>
  readonly kind: DatabaseChoice['kind']
  /** Connection string for other programs; `null` when none can connect. */
  readonly url: string | null
  /** Where its data lies, when that is a folder of the demo's. */
  readonly dataFolder: string | null
  close(): Promise<void>
}

/** Opens the database; starts it first when it is the demo's own. */
export async function openDatabase(choice: DatabaseChoice): Promise<OpenDatabase> {
  switch (choice.kind) {
    case 'embedded':
      return await openEmbedded(choice.folder)
    case 'given':
      return await openGiven(choice.url)
    case 'pglite':
      return await openPglite(choice.folder)
  }
}

async function openEmbedded(folder: string): Promise<OpenDatabase> {
  const server = await startLocalPostgres({ dataDir: join(folder, 'demo-postgres') }).catch((error: unknown) => {
    if (!(error instanceof LocalPostgresError)) throw error
    const Problem = error.code === 'DATA_DIR_IN_USE' ? FolderInUseError : DemoError
    throw new Problem(error.message, { cause: error })
  })
  const db = connect(server.url)
  return {
    db,
    kind: 'embedded',
    url: server.url,
    dataFolder: server.dataDir,
    close: async () => {
      await db.destroy()
      await server.stop()
    },
  }
}

async function openGiven(url: string): Promise<OpenDatabase> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (cause) {
    const { message, code } = cause as Error & { readonly code?: string }
    throw new DemoError(`The database of DATABASE_URL does not answer: ${message || code}. Correct it, or unset it.`, {
      cause,
    })
  } finally {
    await client.end().catch(() => {})
  }
  const db = connect(url)
  return { db, kind: 'given', url, dataFolder: null, close: () => db.destroy() }
}

function connect(url: string): Kysely<Database> {
  const pool = new pg.Pool({ connectionString: url, max: 10, application_name: 'tidemark demo' })
  // An idle connection that breaks is replaced at the next query; unheard, its event would end the process.
  pool.on('error', (error) => console.error(`A database connection broke: ${error.message}`))
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

async function openPglite(folder: string | null): Promise<OpenDatabase> {
  const dataFolder = folder === null ? null : join(folder, 'demo-pglite')
  if (folder !== null) await mkdir(folder, { recursive: true })
  const lock = dataFolder === null ? null : await lockFolder(dataFolder)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const pglite = await (dataFolder === null ? PGlite.create() : PGlite.create(dataFolder))
    const db = new Kysely<Database>({ dialect: new PgliteDialect({ pglite }) })
    return {
      db,
      kind: 'pglite',
      url: null,
      dataFolder,
      close: async () => {
        await db.destroy()
        await lock?.release()
      },
    }
  } catch (error) {
    await lock?.release()
    throw error
  }
}
