import { inject } from 'vitest'
import { createTestDatabase as createOn, type CreateDatabaseOptions, type TestDatabase } from './databases.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's Postgres server, as a user who may create databases. */
    pgUrl: string
  }
}

/**
 * Creates a database with a random name on the run's server; for tests whose project has `database: true`.
 *
 * @example
 * await using database = await createTestDatabase()
 * const pool = new pg.Pool({ connectionString: database.url })
 */
export async function createTestDatabase(options: CreateDatabaseOptions = {}): Promise<TestDatabase> {
  return await createOn(inject('pgUrl'), options)
}

export type { CreateDatabaseOptions, TestDatabase } from './databases.ts'
