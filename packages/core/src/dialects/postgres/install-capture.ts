import type { AnyTransaction, FeedSetup } from '../dialect.ts'
import { CAPTURE_VERSION, captureBody, captureOperations } from './capture-functions.ts'
import { catalogued, functionName, isAttached, type Tracked, triggerEvents, triggerName } from './inspect-capture.ts'
import type { CapturePlan } from './plan-capture.ts'
import { identifier, literal, run } from './run.ts'

/**
 * Installs or mends the capture of one table, in the caller's transaction. With `announce`, appends the table-level entry that tells
 * readers of what was written unseen.
 */
export async function installCapture(
  trx: AnyTransaction,
  setup: FeedSetup,
  plan: CapturePlan,
  tracked: Tracked | undefined,
  announce: boolean,
): Promise<void> {
  const schema = identifier(setup.schema)
  const role = identifier(setup.captureRole)
  const number = tracked?.number ?? (await reserveNumber(trx, schema, plan))
  const table = `${identifier(plan.facts.schema)}.${identifier(plan.facts.name)}`

  // Writers that are open still append in the old form, and must be done before the change is announced: later their entries could not be told apart.
  if (announce && tracked?.relation === plan.facts.oid)
    await run(trx, `lock table ${table} in share row exclusive mode`)

  // An owner must be allowed to create in the schema at the moment it is given a function, and only then.
  await run(trx, `grant create on schema ${schema} to ${role}`)
  for (const operation of captureOperations) {
    const name = `${schema}.${functionName(number, operation)}()`
    const body = captureBody(plan, operation, setup.schema, number)
    await run(
      trx,
      `create or replace function ${name} returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as ${literal(body)}`,
    )
    await run(trx, `revoke all on function ${name} from public`)
    await run(trx, `alter function ${name} owner to ${role}`)
  }
  await run(trx, `revoke create on schema ${schema} from ${role}`)

  // The name may have passed to another table: what is written to the former one is no longer this table's.
  if (tracked !== undefined && tracked.relation !== null && tracked.relation !== plan.facts.oid)
    await dropTriggers(trx, setup, tracked.relation)

  for (const operation of captureOperations) {
    const { event, referencing } = triggerEvents[operation]
    const name = identifier(triggerName(setup.schema, operation))
    const present =
      tracked?.relation === plan.facts.oid
        ? tracked.triggers.find((t) => t.name === triggerName(setup.schema, operation))
        : undefined
    if (present?.enabled === 'A' && isAttached(present, operation, setup.schema, number)) continue
    await run(
      trx,
      `create or replace trigger ${name} after ${event} on ${table} ${referencing} for each statement execute function ${schema}.${functionName(number, operation)}()`,
    )
    await run(trx, `alter table ${table} enable always trigger ${name}`)
  }

  await run(
    trx,
    `update ${schema}.tracked set relation = $2::oid, key_columns = $3::jsonb, tenant_column = $4::jsonb, scope_columns = $5::jsonb, capture_version = $6::int4
     where number = $1::int4`,
    [
      number,
      plan.facts.oid,
      JSON.stringify(plan.key.map(catalogued)),
      plan.tenant === null ? null : JSON.stringify(catalogued(plan.tenant)),
      JSON.stringify(plan.scopes.map(catalogued)),
      CAPTURE_VERSION,
    ],
  )
  await raiseCatalogueVersion(trx, setup.schema)
  if (announce) await announceTable(trx, setup.schema, number)
}

/** Appends a table-level entry that every audience of the table reads. */
async function announceTable(trx: AnyTransaction, schema: string, number: number): Promise<void> {
  await run(trx, `insert into ${identifier(schema)}.log (tbl, op, n) values ($1::int4, 'i', 1)`, [number])
}

async function reserveNumber(trx: AnyTransaction, schema: string, plan: CapturePlan): Promise<number> {
  const [row] = await run<{ number: string }>(
    trx,
    `insert into ${schema}.tracked (name, key_columns, scope_columns, capture_version) values ($1::text, '[]', '[]', $2::int4) returning number::text`,
    [plan.declared.name, CAPTURE_VERSION],
  )
  if (row === undefined) throw new Error('the catalogue returned no number')
  return Number(row.number)
}

/** Removes triggers and functions of a tracked table and announces it a last time. */
export async function removeCapture(trx: AnyTransaction, setup: FeedSetup, tracked: Tracked): Promise<void> {
  const schema = identifier(setup.schema)
  if (tracked.relation !== null) await dropTriggers(trx, setup, tracked.relation)
  for (const operation of captureOperations) {
    await run(trx, `drop function if exists ${schema}.${functionName(tracked.number, operation)}()`)
  }
  await run(trx, `update ${schema}.tracked set relation = null where number = $1::int4`, [tracked.number])
  await raiseCatalogueVersion(trx, setup.schema)
  await announceTable(trx, setup.schema, tracked.number)
}

async function raiseCatalogueVersion(trx: AnyTransaction, schema: string): Promise<void> {
  await run(trx, `update ${identifier(schema)}.state set catalogue_version = catalogue_version + 1`)
}

async function dropTriggers(trx: AnyTransaction, setup: FeedSetup, relation: string): Promise<void> {
  const [table] = await run<{ name: string }>(
    trx,
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = $1::oid`,
    [relation],
  )
  if (table === undefined) return
  for (const operation of captureOperations) {
    await run(trx, `drop trigger if exists ${identifier(triggerName(setup.schema, operation))} on ${table.name}`)
  }
}
