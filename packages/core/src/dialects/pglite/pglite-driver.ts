import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult, type TransactionSettings } from 'kysely'
import type { PgliteDialectConfig, PgliteLike, PgliteQueryable, PgliteTransactionLike } from './pglite-config.ts'

/**
 * Runs Kysely on PGlite's one connection. Transactions go through `pglite.transaction()`, so that they exclude whoever uses the instance beside
 * Kysely too. While one is open every other query waits for it: do not await another query of the same instance inside.
 */
export class PgliteDriver implements Driver {
  readonly #config: PgliteDialectConfig
  #pglite: PgliteLike | null = null

  constructor(config: PgliteDialectConfig) {
    this.#config = config
  }

  async init(): Promise<void> {
    const { pglite } = this.#config
    this.#pglite = typeof pglite === 'function' ? await pglite() : pglite
    await this.#pglite.waitReady
  }

  async acquireConnection(): Promise<PgliteConnection> {
    if (this.#pglite === null) throw new Error('the PGlite driver is not initialised')
    return new PgliteConnection(this.#pglite)
  }

  async beginTransaction(connection: PgliteConnection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings)
  }

  async commitTransaction(connection: PgliteConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PgliteConnection): Promise<void> {
    await connection.rollback()
  }

  async savepoint(connection: PgliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoted(name)}`))
  }

  async rollbackToSavepoint(connection: PgliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to savepoint ${quoted(name)}`))
  }

  async releaseSavepoint(connection: PgliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release savepoint ${quoted(name)}`))
  }

  async releaseConnection(connection: PgliteConnection): Promise<void> {
    // Only after a failed begin or commit is something still open here.
    await connection.rollback()
  }

  async destroy(): Promise<void> {
    await this.#pglite?.close()
    this.#pglite = null
  }
}

/** An open `pglite.transaction()`: its callback is kept waiting until Kysely says how it ends. */
interface OpenTransaction {
  readonly tx: PgliteTransactionLike
  finish(): void
  readonly finished: Promise<void>
}

class PgliteConnection implements DatabaseConnection {
  readonly #pglite: PgliteLike
  #open: OpenTransaction | null = null

  constructor(pglite: PgliteLike) {
    this.#pglite = pglite
  }

  async begin(settings: TransactionSettings): Promise<void> {
    let finish = (): void => {}
    const hold = new Promise<void>((resolve) => {
      finish = resolve
    })
    this.#open = await new Promise<OpenTransaction>((resolve, reject) => {
      const finished: Promise<void> = this.#pglite.transaction((tx) => {
        resolve({ tx, finish, finished: Promise.resolve().then(() => finished) })
        return hold
      })
      finished.catch(reject)
    })
    const { accessMode, isolationLevel } = settings
    const modes = [isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean).join(' ')
    if (modes !== '') await this.#open.tx.query(`set transaction ${modes}`)
  }

  async commit(): Promise<void> {
    const open = this.#open
    this.#open = null
    open?.finish()
    await open?.finished
  }

  async rollback(): Promise<void> {
    const open = this.#open
    if (open === null) return
    this.#open = null
    await open.tx.rollback()
    open.finish()
    await open.finished
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const on: PgliteQueryable = this.#open?.tx ?? this.#pglite
    const { rows, affectedRows } = await on.query<R>(compiled.sql, [...compiled.parameters])
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) }
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('PGlite does not stream results: use execute()')
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
