import type { DeclaredTable } from '../../declaration.ts'
import { InsufficientRightsError, UnknownTableError } from '../../errors.ts'
import type { MigrateOptions, MigrateReport } from '../../feed.ts'
import type { AnyTransaction, FeedSetup } from '../dialect.ts'
import { ensureCaptureRole } from './capture/capture-role.ts'
import { hasNewLayout } from './capture/compare-capture.ts'
import { qualifiedName } from './capture/describe-tables.ts'
import { inspectTracked } from './capture/inspect-capture.ts'
import { announceTable, installCapture, noteLayout, removeCapture } from './capture/install-capture.ts'
import type { CapturePlan } from './capture/plan-capture.ts'
import { suspectPartitions } from './capture/suspect-partitions.ts'
import { newPartitions } from './capture/table-layout.ts'
import { compareTables } from './compare-tables.ts'
import { grantReading } from './grants.ts'
import { migrateSchema } from './migrate-schema.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, run, sqlState } from './run.ts'
import { idsAreHandedOutSingly } from './verify.ts'
import { type LockOptions, withLockRetries } from './with-lock-retries.ts'

/** `feed.migrate()`: the schema, then each table in a transaction of its own, so that no table's lock is held for another's sake. */
export async function migrate(setup: FeedSetup, options: MigrateOptions): Promise<MigrateReport> {
  const migrations = await migrateSchema(setup, options)
  const installed: string[] = []
  for (const compared of await compareTables(setup.db, setup, options)) {
    if (compared.difference === null && !hasNewLayout(compared)) continue
    const { declared } = compared.plan
    await asOwner(setup, declared.name, options, async (trx) => {
      if (await mendTable(trx, setup, options, declared)) installed.push(declared.name)
    })
  }
  if (!(await idsAreHandedOutSingly(setup))) await handOutIdsSingly(setup, options)
  if (options.grantTo !== undefined) await grantReading(setup, options.grantTo)
  return { migrations, installed }
}

/** Looks at a table again under the lock, since another process may have been here, and mends what differs. Whether something did. */
async function mendTable(
  trx: AnyTransaction,
  setup: FeedSetup,
  options: MigrateOptions,
  declared: DeclaredTable,
): Promise<boolean> {
  const [now] = await compareTables(trx, setup, options, [declared])
  if (now === undefined) return false
  const { plan, tracked, difference } = now
  const owner = await isOwner(trx, setup, plan)
  if (difference === null) {
    if (owner) await noteLayout(trx, setup, now)
    return false
  }
  if (!owner) throw notOwner(setup, declared.name)
  await ensureCaptureRole(trx, setup)
  await installCapture(trx, setup, plan, tracked, difference.unseen)
  const [after] = await compareTables(trx, setup, options, [declared])
  // The grants have changed the columns' versions. What somebody else changed meanwhile is left to the next start.
  if (after?.difference === null) await noteLayout(trx, setup, after)
  // A new partition that was harmless when it was looked at may have been truncated before its trigger stood.
  if (!difference.unseen && tracked?.layout != null && after !== undefined) {
    const suspects = await suspectPartitions(trx, newPartitions(tracked.layout, after.plan.facts))
    if (suspects.length > 0) await announceTable(trx, setup.schema, tracked.number)
  }
  return true
}

/**
 * Ids from a block are older than the transaction that uses them, so a reader may have stepped over them: all tables are announced. The restart
 * takes the blocks away that sessions still hold.
 */
async function handOutIdsSingly(setup: FeedSetup, options: MigrateOptions): Promise<void> {
  const log = `${identifier(setup.schema)}.log`
  await withLockRetries(setup, `${setup.schema}.log`, options, async (trx) => {
    await run(trx, `lock table ${log} in access exclusive mode`)
    const [next] = await run<{ id: string }>(trx, `select nextval(pg_get_serial_sequence($1, 'id'))::text as id`, [log])
    await run(trx, `alter table ${log} alter column id set cache 1 restart with ${BigInt(next?.id ?? '')}`)
    for (const { number, relation } of await inspectTracked(trx, setup.schema))
      if (relation !== null) await announceTable(trx, setup.schema, number)
  })
}

/** `untrack`. */
export async function untrack(setup: FeedSetup, table: string, options: LockOptions): Promise<void> {
  await asOwner(setup, table, options, async (trx) => {
    const tracked = (await inspectTracked(trx, setup.schema)).find(({ name }) => name === table)
    if (tracked === undefined) throw new UnknownTableError('table')
    if (tracked.relation !== null) await removeCapture(trx, setup, tracked)
  })
}

/** Only the owner of a table and of the feed may install capture. Asked before anything else is tried, which would complain of something less to the point. */
async function isOwner(trx: AnyTransaction, setup: FeedSetup, { facts }: CapturePlan): Promise<boolean> {
  const [row] = await run<{ owner: string }>(
    trx,
    `select (pg_has_role(n.nspowner, 'USAGE') and bool_and(pg_has_role(c.relowner, 'USAGE')))::text as owner from pg_class c, pg_namespace n
     where c.oid::text in (select json_array_elements_text($1::json)) and n.nspname = $2 group by n.nspowner`,
    [JSON.stringify([facts.oid, ...facts.partitions.map(({ oid }) => oid)]), setup.schema],
  )
  return row?.owner === 'true'
}

/** Works on one table under its locks; a right that is missing is said to be the owner's. */
async function asOwner(
  setup: FeedSetup,
  table: string,
  options: LockOptions,
  work: (trx: AnyTransaction) => Promise<void>,
): Promise<void> {
  try {
    await withLockRetries(setup, table, options, work)
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) throw notOwner(setup, table, { cause: error })
    throw error
  }
}

function notOwner(setup: FeedSetup, table: string, options?: ErrorOptions): InsufficientRightsError {
  return new InsufficientRightsError(
    `table "${table}": this role may not change its capture; run migrate() as the owner of the table and its partitions`,
    [`run feed.migrate() as the owner of ${qualifiedName(table)} and of schema ${identifier(setup.schema)}`],
    options,
  )
}
