import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
} from 'kysely'
import type { PgliteDialectConfig } from './pglite-config.ts'
import { PgliteDriver } from './pglite-driver.ts'

/**
 * Kysely on PGlite: Postgres inside the process, with one connection. What one connection cannot do: while a transaction is open every
 * other query waits, and no second process can use the same folder.
 *
 * @example
 * const db = new Kysely<DB>({ dialect: new PgliteDialect({ pglite: new PGlite('./data') }) })
 */
export class PgliteDialect implements Dialect {
  readonly #config: PgliteDialectConfig

  constructor(config: PgliteDialectConfig) {
    this.#config = config
  }

  createDriver(): Driver {
    return new PgliteDriver(this.#config)
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter()
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the signature is Kysely's
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}
