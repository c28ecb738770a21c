export { createDatabase, createTestDatabase, dropDatabase, urlOfDatabase } from './databases.ts'
export { LocalPostgresError } from './errors.ts'
export { startLocalPostgres } from './start-local-postgres.ts'

export type { PostgresVersion } from './binaries.ts'
export type { CreateDatabaseOptions, TestDatabase } from './databases.ts'
export type { LocalPostgresErrorCode } from './errors.ts'
export type { LocalPostgres, LocalPostgresOptions } from './start-local-postgres.ts'
