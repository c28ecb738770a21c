import { createTestDatabase, startLocalPostgres, type PostgresVersion } from '@tidemark/local-postgres'
import { progress } from './output.ts'

/** A database of this run's own. */
export interface RunDatabase {
  readonly url: string
  /** Whether the server was started for this run: its processes are on this machine, and its settings are ours. */
  readonly ownServer: boolean
}

/**
 * Runs `work` in a fresh database and drops it. The server is the one of `TEST_DATABASE_URL`, or one started with `settings` and stopped again.
 */
export async function withDatabase<T>(
  version: PostgresVersion,
  settings: Readonly<Record<string, string>>,
  work: (database: RunDatabase) => Promise<T>,
): Promise<T> {
  const given = process.env['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') {
    progress('using the server of TEST_DATABASE_URL')
    await using database = await createTestDatabase(given)
    return await work({ url: database.url, ownServer: false })
  }
  progress(`starting Postgres (${version})`)
  await using server = await startLocalPostgres({ version, settings })
  await using database = await createTestDatabase(server.url)
  return await work({ url: database.url, ownServer: true })
}
