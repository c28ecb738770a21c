import { InsufficientRightsError, SchemaTooNewError } from '../../errors.ts'
import type { AnyKysely, AnyTransaction, FeedSetup } from '../dialect.ts'
import { ensureCaptureRole } from './capture/capture-role.ts'
import { migrations } from './migrations.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, run, sqlState } from './run.ts'
import { type LockOptions, withLockRetries } from './with-lock-retries.ts'

interface Applied {
  readonly number: number
  readonly breaking: boolean
}

/** Brings the feed's schema up to date; returns the numbers of the steps applied now. Looks first, and locks only when there is work. */
export async function migrateSchema(setup: FeedSetup, options: LockOptions): Promise<number[]> {
  const before = await appliedSteps(setup.db, setup.schema)
  if (pendingSteps(before).length === 0) return []
  try {
    return await withLockRetries(setup, `${setup.schema}.log`, options, async (trx) => {
      await ensureCaptureRole(trx, setup)
      const schema = identifier(setup.schema)
      const applied = await appliedSteps(trx, setup.schema)
      if (applied === null) {
        await ensureSchema(trx, setup.schema)
        await run(
          trx,
          `create table ${schema}.migration (number integer primary key, name text not null, breaking boolean not null, applied_at timestamptz not null default pg_catalog.now())`,
        )
      }
      const pending = pendingSteps(applied)
      for (const step of pending) {
        await run(
          trx,
          `insert into ${schema}.migration (number, name, breaking) values ($1::int4, $2::text, $3::text::boolean)`,
          [step.number, step.name, String(step.breaking)],
        )
        for (const statement of step.statements(setup)) await run(trx, statement)
      }
      return pending.map(({ number }) => number)
    })
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new InsufficientRightsError(
      `this role may not install the feed's schema "${setup.schema}": run the steps, or run migrate({ grantTo: [this role] }) once as a role that may`,
      before === null
        ? [await grantCreate(setup.db)]
        : [`run feed.migrate() as the owner of schema ${identifier(setup.schema)}`],
      { cause: error },
    )
  }
}

/** Creates the schema, unless somebody who may has made it beforehand. */
async function ensureSchema(trx: AnyTransaction, name: string): Promise<void> {
  const [found] = await run<{ mine: string; me: string }>(
    trx,
    `select pg_has_role(nspowner, 'USAGE')::text as mine, quote_ident(current_user) as me from pg_namespace where nspname = $1`,
    [name],
  )
  if (found === undefined) {
    await run(trx, `create schema ${identifier(name)}`)
  } else if (found.mine !== 'true') {
    throw new InsufficientRightsError(`the feed's schema "${name}" exists and belongs to another role`, [
      `alter schema ${identifier(name)} owner to ${found.me}`,
    ])
  }
}

async function grantCreate(db: AnyKysely): Promise<string> {
  const [row] = await run<{ step: string }>(
    db,
    `select format('grant create on database %I to %I', current_database(), current_user) as step`,
  )
  return row?.step ?? ''
}

/** Throws when the schema is missing, incomplete, or too new for this version. */
export function pendingSteps(applied: readonly Applied[] | null): (typeof migrations)[number][] {
  const newest = migrations.at(-1)?.number ?? 0
  const tooNew = applied?.filter((step) => step.breaking && step.number > newest).at(-1)
  if (tooNew !== undefined) throw new SchemaTooNewError(tooNew.number, newest)
  const done = new Set(applied?.map(({ number }) => number))
  return migrations.filter(({ number }) => !done.has(number))
}

/** Steps recorded in the database, in order; `null` when the feed was never installed. */
export async function appliedSteps(db: AnyKysely | AnyTransaction, schema: string): Promise<Applied[] | null> {
  const table = `${identifier(schema)}.migration`
  try {
    // Not by to_regclass, which raises when the schema is there and may not be used.
    const [found] = await run<{ there: string }>(
      db,
      `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'migration')::text as there`,
      [schema],
    )
    if (found?.there !== 'true') return null
    const rows = await run<{ number: string; breaking: string }>(
      db,
      `select number::text as number, breaking::text as breaking from ${table} order by ${table}.number`,
    )
    return rows.map(({ number, breaking }) => ({ number: Number(number), breaking: breaking === 'true' }))
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new InsufficientRightsError(
      `this role may not look into the feed's schema "${schema}"`,
      ['run feed.migrate({ grantTo: [this role] }) as the role that installed the feed'],
      { cause: error },
    )
  }
}
