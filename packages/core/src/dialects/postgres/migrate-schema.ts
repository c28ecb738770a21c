import { InsufficientRightsError, SchemaTooNewError } from '../../errors.ts'
import type { AnyKysely, AnyTransaction, FeedSetup } from '../dialect.ts'
import { ensureCaptureRole } from './capture-role.ts'
import { migrations } from './migrations.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, run, sqlState } from './run.ts'

interface Applied {
  readonly number: number
  readonly breaking: boolean
}

/** Brings the feed's schema up to date; returns the numbers of the steps applied now. Looks first, and locks only when there is work. */
export async function migrateSchema(setup: FeedSetup): Promise<number[]> {
  if (pendingSteps(await appliedSteps(setup.db, setup.schema)).length === 0) return []
  try {
    return await setup.db.transaction().execute(async (trx) => {
      await lockInstallation(trx, setup.schema)
      await ensureCaptureRole(trx, setup.captureRole)
      const schema = identifier(setup.schema)
      const applied = await appliedSteps(trx, setup.schema)
      if (applied === null) {
        await run(trx, `create schema if not exists ${schema}`)
        await run(
          trx,
          `create table ${schema}.migration (number integer primary key, name text not null, breaking boolean not null, applied_at timestamptz not null default pg_catalog.now())`,
        )
      }
      const pending = pendingSteps(applied)
      for (const step of pending) {
        await run(trx, `insert into ${schema}.migration (number, name, breaking) values ($1::int4, $2::text, $3::text::boolean)`, [
          step.number,
          step.name,
          String(step.breaking),
        ])
        for (const statement of step.statements(setup)) await run(trx, statement)
      }
      return pending.map(({ number }) => number)
    })
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new InsufficientRightsError(
      `this role may not install the feed's schema "${setup.schema}": run migrate() once as a role that may, then grant it with migrate({ grantTo })`,
      [`grant create on database … to <this role>;`, `alter role <this role> createrole;`],
      { cause: error },
    )
  }
}

/** Throws when the schema is missing, incomplete, or too new for this version. */
export function pendingSteps(applied: readonly Applied[] | null): typeof migrations[number][] {
  const newest = migrations.at(-1)?.number ?? 0
  const tooNew = applied?.filter((step) => step.breaking && step.number > newest).at(-1)
  if (tooNew !== undefined) throw new SchemaTooNewError(tooNew.number, newest)
  const done = new Set(applied?.map(({ number }) => number))
  return migrations.filter(({ number }) => !done.has(number))
}

/** Steps recorded in the database, in order; `null` when the feed was never installed. */
export async function appliedSteps(db: AnyKysely | AnyTransaction, schema: string): Promise<Applied[] | null> {
  const table = `${identifier(schema)}.migration`
  const [found] = await run<{ there: string }>(db, `select (to_regclass($1) is not null)::text as there`, [table])
  if (found?.there !== 'true') return null
  const rows = await run<{ number: string; breaking: string }>(
    db,
    `select number::text as number, breaking::text as breaking from ${table} order by ${table}.number`,
  )
  return rows.map(({ number, breaking }) => ({ number: Number(number), breaking: breaking === 'true' }))
}

/** Serialises everything that changes the installation, until the end of the transaction. Writers never take this lock. */
export async function lockInstallation(trx: AnyTransaction, schema: string): Promise<void> {
  await run(trx, `select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`tidemark:${schema}`])
}
