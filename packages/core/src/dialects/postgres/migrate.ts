import { setTimeout as pause } from 'node:timers/promises'
import { InsufficientRightsError, LockTimeoutError, UnknownTableError } from '../../errors.ts'
import type { MigrateOptions, MigrateReport } from '../../feed.ts'
import type { AnyTransaction, FeedSetup } from '../dialect.ts'
import { ensureCaptureRole } from './capture/capture-role.ts'
import { hasNewLayout } from './capture/compare-capture.ts'
import { qualifiedName, suspectPartitions } from './capture/describe-tables.ts'
import { inspectTracked } from './capture/inspect-capture.ts'
import { announceTable, installCapture, noteLayout, removeCapture } from './capture/install-capture.ts'
import type { CapturePlan } from './capture/plan-capture.ts'
import { newPartitions } from './capture/table-layout.ts'
import { compareTables } from './compare-tables.ts'
import { grantReading } from './grants.ts'
import { lockInstallation, migrateSchema, PLAIN_NAMES } from './migrate-schema.ts'
import { DEADLOCK_DETECTED, identifier, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE, run, sqlState } from './run.ts'
import { idsAreHandedOutSingly } from './verify.ts'

const LOCK_TIMEOUT_MS = 2000
const LOCK_ATTEMPTS = 10

/** `feed.migrate()`: the schema, then each table in a transaction of its own, so that no table's lock is held for another's sake. */
export async function migrate(setup: FeedSetup, options: MigrateOptions): Promise<MigrateReport> {
  const migrations = await migrateSchema(setup)
  const installed: string[] = []
  for (const compared of await compareTables(setup.db, setup, options)) {
    if (compared.difference === null && !hasNewLayout(compared)) continue
    const { declared } = compared.plan
    await withLockRetries(setup, declared.name, options, async (trx) => {
      // Looked at again under the lock: another process may have been here.
      const [now] = await compareTables(trx, setup, options, [declared])
      if (now === undefined) return
      const { plan, tracked, difference } = now
      const owner = await isOwner(trx, setup, plan)
      if (difference === null) return owner ? await noteLayout(trx, setup, now) : undefined
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
      installed.push(declared.name)
    })
  }
  if (!(await idsAreHandedOutSingly(setup)))
    await run(setup.db, `alter table ${identifier(setup.schema)}.log alter column id set cache 1`)
  if (options.grantTo !== undefined) await grantReading(setup, options.grantTo)
  return { migrations, installed }
}

/** `untrack`. */
export async function untrack(
  setup: FeedSetup,
  table: string,
  options: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>,
): Promise<void> {
  await withLockRetries(setup, table, options, async (trx) => {
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

function notOwner(setup: FeedSetup, table: string, options?: ErrorOptions): InsufficientRightsError {
  return new InsufficientRightsError(
    `table "${table}": this role may not change its capture; run migrate() as the owner of the table and its partitions`,
    [`run feed.migrate() as the owner of ${qualifiedName(table)} and of schema ${identifier(setup.schema)}`],
    options,
  )
}

/** Runs `work` under the installation lock with a short wait for table locks: while it waits, writers queue behind it. */
async function withLockRetries(
  setup: FeedSetup,
  table: string,
  {
    lockTimeoutMs = LOCK_TIMEOUT_MS,
    lockAttempts = LOCK_ATTEMPTS,
  }: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>,
  work: (trx: AnyTransaction) => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await setup.db.transaction().execute(async (trx) => {
        await lockInstallation(trx, setup.schema)
        await run(trx, `set local lock_timeout = ${Math.max(1, Math.trunc(lockTimeoutMs))}`)
        await run(trx, PLAIN_NAMES)
        await work(trx)
      })
    } catch (error) {
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) throw notOwner(setup, table, { cause: error })
      if (sqlState(error) !== LOCK_NOT_AVAILABLE && sqlState(error) !== DEADLOCK_DETECTED) throw error
      if (attempt >= lockAttempts) throw new LockTimeoutError(table, { cause: error })
      await pause(Math.random() * 200 * attempt)
    }
  }
}
