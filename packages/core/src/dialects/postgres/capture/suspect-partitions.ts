import type { AnyKysely, AnyTransaction } from '../../dialect.ts'
import { isMissingObject, LOCK_NOT_AVAILABLE, qualified, run, sqlState } from '../run.ts'
import type { PartitionFacts } from './describe-tables.ts'

/**
 * Names of those partitions whose rows may have changed unseen before capture knew of them: they hold rows, which may be older than their
 * attachment, or they were truncated, or this role cannot tell.
 */
export async function suspectPartitions(
  db: AnyKysely | AnyTransaction,
  partitions: readonly PartitionFacts[],
): Promise<string[]> {
  const suspect: string[] = []
  for (const partition of partitions)
    if (partition.kind !== 'p' && !(partition.untouched && (await isEmpty(db, partition)))) suspect.push(partition.name)
  return suspect
}

/** Whether a partition holds no rows, as far as this role can tell. Waits for nobody: one that somebody else has to himself counts as filled. */
async function isEmpty(db: AnyKysely | AnyTransaction, partition: PartitionFacts): Promise<boolean> {
  const look = async (trx: AnyTransaction): Promise<boolean> => {
    const [access] = await run<{ readable: string }>(
      trx,
      `select (has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select') and not row_security_active(c.oid))::text as readable from pg_class c where c.oid = $1::oid`,
      [partition.oid],
    )
    if (access?.readable !== 'true') return false
    const [row] = await run<{ filled: string }>(
      trx,
      `select exists (select from ${qualified(partition)})::text as filled`,
    )
    return row?.filled === 'false'
  }
  // Within a transaction of the installation a time-out is set, and leads to another attempt.
  if (db.isTransaction) return await look(db as AnyTransaction)
  try {
    return await db.transaction().execute(async (trx) => {
      await run(trx, `set local lock_timeout = 100`)
      return await look(trx)
    })
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE || isMissingObject(error)) return false
    throw error
  }
}
