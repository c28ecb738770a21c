import { setTimeout as pause } from 'node:timers/promises'
import type { DeclaredTable } from '../../declaration.ts'
import {
  DeclarationConflictError,
  InsufficientRightsError,
  LockTimeoutError,
  TidemarkError,
  UnknownTableError,
  UnsupportedColumnError,
} from '../../errors.ts'
import type { Finding, MigrateOptions, MigrateReport } from '../../feed.ts'
import type { AnyKysely, AnyTransaction, FeedSetup } from '../dialect.ts'
import { ensureCaptureRole } from './capture-role.ts'
import { describeTables, qualifiedName } from './describe-tables.ts'
import { grantReading } from './grants.ts'
import { identityConflict } from './identity-conflict.ts'
import { compareCapture, inspectTracked, type Tracked } from './inspect-capture.ts'
import { installCapture, removeCapture } from './install-capture.ts'
import { appliedSteps, lockInstallation, migrateSchema, pendingSteps } from './migrate-schema.ts'
import { type CapturePlan, planCapture } from './plan-capture.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE, run, sqlState } from './run.ts'

const LOCK_TIMEOUT_MS = 2000
const LOCK_ATTEMPTS = 10

/** `feed.migrate()`: the schema, then each table in a transaction of its own, so that no table's lock is held for another's sake. */
export async function migrate(setup: FeedSetup, options: MigrateOptions): Promise<MigrateReport> {
  const migrations = await migrateSchema(setup)
  const installed: string[] = []
  for (const { plan, difference } of await compareAll(setup.db, setup, options)) {
    if (difference === null) continue
    await withLockRetries(setup, plan.declared.name, options, async (trx) => {
      // Looked at again under the lock: another process may have been here.
      const [now] = await compareAll(trx, setup, options, [plan.declared])
      if (now === undefined || now.difference === null) return
      await requireOwner(trx, setup, now.plan)
      await ensureCaptureRole(trx, setup.captureRole)
      await installCapture(trx, setup, now.plan, now.tracked, now.difference.unseen)
      installed.push(plan.declared.name)
    })
  }
  if (!(await idsAreHandedOutSingly(setup)))
    await run(setup.db, `alter table ${identifier(setup.schema)}.log alter column id set cache 1`)
  if (options.grantTo !== undefined) await grantReading(setup, options.grantTo)
  return { migrations, installed }
}

/** `feed.verify()`: every difference between declared and installed, as findings instead of errors. */
export async function verify(setup: FeedSetup): Promise<readonly Finding[]> {
  const applied = await appliedSteps(setup.db, setup.schema)
  if (pendingSteps(applied).length > 0) {
    return [
      {
        table: null,
        problem: `the feed's schema "${setup.schema}" is not installed or not up to date`,
        remedy: 'run feed.migrate()',
      },
    ]
  }
  const findings: Finding[] = []
  if (!(await idsAreHandedOutSingly(setup))) {
    findings.push({
      table: null,
      problem: 'entry ids are handed out in blocks, so entries of one row can be read in the wrong order',
      remedy: 'run feed.migrate()',
    })
  }
  for (const table of setup.tables.values()) {
    try {
      const [compared] = await compareAll(setup.db, setup, {}, [table])
      if (compared?.difference)
        findings.push({ table: table.name, problem: compared.difference.problem, remedy: 'run feed.migrate()' })
    } catch (error) {
      if (!(error instanceof TidemarkError)) throw error
      findings.push({
        table: table.name,
        problem: error.message,
        remedy: 'change the table or its declaration, then run feed.migrate()',
      })
    }
  }
  return findings
}

/** A cache above 1 on the log's sequence loses nothing but breaks the order of entries (docs/cursor.md, "The log"). */
async function idsAreHandedOutSingly(setup: FeedSetup): Promise<boolean> {
  const [row] = await run<{ singly: string }>(
    setup.db,
    `select (seqcache = 1)::text as singly from pg_sequence where seqrelid = pg_get_serial_sequence($1, 'id')::regclass`,
    [`${identifier(setup.schema)}.log`],
  )
  return row?.singly === 'true'
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

interface Compared {
  readonly plan: CapturePlan
  readonly tracked: Tracked | undefined
  readonly difference: ReturnType<typeof compareCapture>
}

async function compareAll(
  db: AnyKysely | AnyTransaction,
  setup: FeedSetup,
  options: MigrateOptions,
  only: Iterable<DeclaredTable> = setup.tables.values(),
): Promise<Compared[]> {
  const tables = [...only]
  const facts = await describeTables(db, tables)
  const allTracked = await inspectTracked(db, setup.schema)
  const compared = tables.map((declared) => {
    const tracked = allTracked.find(({ name }) => name === declared.name)
    const effective = reconcile(declared, tracked, facts.get(declared.name)?.columns.map((c) => c.name) ?? [], options)
    const plan = planCapture(effective, facts.get(declared.name))
    const twin = allTracked.find(({ name, relation }) => relation === plan.facts.oid && name !== declared.name)
    if (twin !== undefined) {
      throw new DeclarationConflictError(
        declared.name,
        `is tracked under the name "${twin.name}": use one name for it, or untrack the other`,
      )
    }
    return { plan, tracked, difference: compareCapture(plan, tracked, setup.schema, setup.captureRole) }
  })
  requireOneTenantType(compared, allTracked)
  return compared
}

/**
 * What to install when another version of the app declared the table differently: scope columns are only ever added (that version
 * may still run), and another key or tenant needs the operator's word.
 */
function reconcile(
  declared: DeclaredTable,
  tracked: Tracked | undefined,
  columns: readonly string[],
  options: MigrateOptions,
): DeclaredTable {
  if (tracked === undefined || tracked.relation === null || options.redeclare?.includes(declared.name) === true)
    return declared
  const conflict = identityConflict(tracked, declared)
  if (conflict !== null) {
    throw new DeclarationConflictError(
      declared.name,
      `is captured with another ${conflict} than declared here: pass migrate({ redeclare: [name] }) once no older version of the app runs`,
    )
  }
  const kept = tracked.scopes.map(({ name }) => name).filter((name) => columns.includes(name))
  return { ...declared, scopes: [...kept, ...declared.scopes.filter((name) => !kept.includes(name))] }
}

/** Tenants are compared as text, so all tenant columns of a feed must mean the same by a text: they have one type. */
function requireOneTenantType(compared: readonly Compared[], allTracked: readonly Tracked[]): void {
  const planned = new Set(compared.map(({ plan }) => plan.declared.name))
  const installed = allTracked.find(
    ({ name, relation, tenant }) => relation !== null && tenant !== null && !planned.has(name),
  )
  let first: { table: string; castTo: string } | null =
    installed?.tenant == null ? null : { table: installed.name, castTo: installed.tenant.castTo }
  for (const { plan } of compared) {
    if (plan.tenant === null) continue
    first ??= { table: plan.declared.name, castTo: plan.tenant.castTo }
    if (plan.tenant.castTo !== first.castTo) {
      throw new UnsupportedColumnError(
        plan.declared.name,
        plan.tenant.name,
        `is of type ${plan.tenant.castTo}, but the tenant column of "${first.table}" is of type ${first.castTo}: all tenant columns of a feed have one type`,
      )
    }
  }
}

/** Only the owner of a table and of the feed may install capture. Said before anything else is tried, which would complain of something less to the point. */
async function requireOwner(trx: AnyTransaction, setup: FeedSetup, { declared, facts }: CapturePlan): Promise<void> {
  const [row] = await run<{ owner: string }>(
    trx,
    `select (pg_has_role(c.relowner, 'USAGE') and pg_has_role(n.nspowner, 'USAGE'))::text as owner from pg_class c, pg_namespace n where c.oid = $1::oid and n.nspname = $2`,
    [facts.oid, setup.schema],
  )
  if (row?.owner !== 'true') throw notOwner(setup, declared.name)
}

function notOwner(setup: FeedSetup, table: string, options?: ErrorOptions): InsufficientRightsError {
  return new InsufficientRightsError(
    `table "${table}": this role may not change its capture; run migrate() as the table's owner`,
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
        await work(trx)
      })
    } catch (error) {
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) throw notOwner(setup, table, { cause: error })
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
      if (attempt >= lockAttempts) throw new LockTimeoutError(table, { cause: error })
      await pause(Math.random() * 200 * attempt)
    }
  }
}
