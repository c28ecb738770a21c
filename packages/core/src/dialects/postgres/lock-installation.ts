import type { AnyTransaction } from '../dialect.ts'
import { run } from './run.ts'

/** Serialises everything that changes the installation, until the end of the transaction. Writers never take this lock. */
export async function lockInstallation(trx: AnyTransaction, schema: string): Promise<void> {
  await run(trx, `select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`tidemark:${schema}`])
}
