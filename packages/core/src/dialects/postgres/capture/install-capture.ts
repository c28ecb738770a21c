import type { AnyTransaction, FeedSetup } from '../../dialect.ts'
import { identifier, literal, qualified, run } from '../run.ts'
import { CAPTURE_VERSION, captureBody, captureOperations, captureSettings } from './capture-functions.ts'
import { type WantedTrigger, wantedTriggers } from './capture-triggers.ts'
import { findTrigger, hasNewLayout, isAttached, strayTriggers } from './compare-capture.ts'
import { changesPolicy, grantLookup, revokeLookup } from './capture-rights.ts'
import { catalogued, type Tracked } from './inspect-capture.ts'
import { functionName } from './names.ts'
import type { CapturePlan } from './plan-capture.ts'
import { layoutOf } from './table-layout.ts'

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
  const number = tracked?.number ?? (await reserveNumber(trx, setup.schema, plan))
  const known = tracked?.relation === plan.facts.oid ? tracked : undefined

  // Writers that are open still append in the old form, and must be done before the change is announced: later their entries could not be told apart.
  // The strongest lock comes first: on top of a weaker one it could close a circle with somebody who has read the table and then writes it.
  const mode = changesPolicy(plan) ? 'access exclusive' : announce && known !== undefined ? 'share row exclusive' : null
  if (mode !== null) await run(trx, `lock table ${qualified(plan.facts)} in ${mode} mode`)
  await replaceFunctions(trx, setup, plan, number)

  // The name may have passed to another table: what is written to the former one is no longer this table's.
  if (tracked !== undefined && tracked.relation !== null && known === undefined) await dropCapture(trx, setup, tracked)

  const wanted = wantedTriggers(plan, setup.schema, number)
  for (const { relation, name } of known === undefined ? [] : strayTriggers(known, wanted))
    await dropTriggers(trx, relation, [name])
  for (const trigger of wanted) await installTrigger(trx, known, trigger)
  if (plan.reusesKeys) await grantLookup(trx, setup, plan)
  else await revokeLookup(trx, setup, plan.facts.oid)

  await run(
    trx,
    `update ${identifier(setup.schema)}.tracked set relation = $2::oid, key_columns = $3::jsonb, tenant_column = $4::jsonb, scope_columns = $5::jsonb,
       capture_version = $6::int4, layout = $7::jsonb
     where number = $1::int4`,
    [
      number,
      plan.facts.oid,
      JSON.stringify(plan.key.map(catalogued)),
      plan.tenant === null ? null : JSON.stringify(catalogued(plan.tenant)),
      JSON.stringify(plan.scopes.map(catalogued)),
      CAPTURE_VERSION,
      JSON.stringify(layoutOf(plan.facts)),
    ],
  )
  await raiseCatalogueVersion(trx, setup.schema)
  if (announce) await announceTable(trx, setup.schema, number)
}

/** Notes what the table looks like now, if that is news. Its capture is as it should be. */
export async function noteLayout(
  trx: AnyTransaction,
  setup: FeedSetup,
  { plan, tracked }: { readonly plan: CapturePlan; readonly tracked: Tracked | undefined },
): Promise<void> {
  if (tracked === undefined || !hasNewLayout({ plan, tracked })) return
  await run(trx, `update ${identifier(setup.schema)}.tracked set layout = $2::jsonb where number = $1::int4`, [
    tracked.number,
    JSON.stringify(layoutOf(plan.facts)),
  ])
}

async function replaceFunctions(
  trx: AnyTransaction,
  setup: FeedSetup,
  plan: CapturePlan,
  number: number,
): Promise<void> {
  const schema = identifier(setup.schema)
  const role = identifier(setup.captureRole)
  // An owner must be allowed to create in the schema at the moment it is given a function, and only then.
  await run(trx, `grant create on schema ${schema} to ${role}`)
  for (const operation of captureOperations) {
    const name = `${schema}.${functionName(number, operation)}()`
    const body = captureBody(plan, operation, setup.schema, number)
    const settings = captureSettings(plan, operation)
      .map((setting) => `set ${setting.replace('=', ' = ')}`)
      .join(' ')
    await run(
      trx,
      `create or replace function ${name} returns trigger language plpgsql security definer ${settings} as ${literal(body)}`,
    )
    await run(trx, `revoke all on function ${name} from public`)
    await run(trx, `alter function ${name} owner to ${role}`)
  }
  await run(trx, `revoke create on schema ${schema} from ${role}`)
}

/** Makes, replaces or enables one trigger, or leaves it alone. Replacing resets whether it is enabled, on the partitions too. */
async function installTrigger(trx: AnyTransaction, known: Tracked | undefined, trigger: WantedTrigger): Promise<void> {
  const { name, table, definition, enabled, copy } = trigger
  const present = findTrigger(known, trigger)
  const attached = isAttached(present, trigger)
  if (attached && present?.enabled === enabled) return
  if (!attached && !copy) await run(trx, `create or replace trigger ${identifier(name)} ${definition}`)
  // On a partitioned table this reaches the copies on its partitions.
  await run(trx, `alter table ${table} ${enabled === 'A' ? 'enable always' : 'disable'} trigger ${identifier(name)}`)
}

/** Appends a table-level entry that every audience of the table reads. */
export async function announceTable(trx: AnyTransaction, schema: string, number: number): Promise<void> {
  await run(trx, `insert into ${identifier(schema)}.log (tbl, op, n) values ($1::int4, 'i', 1)`, [number])
}

async function reserveNumber(trx: AnyTransaction, schema: string, plan: CapturePlan): Promise<number> {
  const [row] = await run<{ number: string }>(
    trx,
    `insert into ${identifier(schema)}.tracked (name, key_columns, scope_columns, capture_version) values ($1::text, '[]', '[]', $2::int4) returning number::text`,
    [plan.declared.name, CAPTURE_VERSION],
  )
  if (row === undefined) throw new Error('the catalogue returned no number')
  return Number(row.number)
}

/** Removes triggers and functions of a tracked table and announces it a last time. */
export async function removeCapture(trx: AnyTransaction, setup: FeedSetup, tracked: Tracked): Promise<void> {
  const schema = identifier(setup.schema)
  await dropCapture(trx, setup, tracked)
  for (const operation of captureOperations) {
    await run(trx, `drop function if exists ${schema}.${functionName(tracked.number, operation)}()`)
  }
  await run(trx, `update ${schema}.tracked set relation = null, layout = null where number = $1::int4`, [
    tracked.number,
  ])
  await raiseCatalogueVersion(trx, setup.schema)
  await announceTable(trx, setup.schema, tracked.number)
}

async function raiseCatalogueVersion(trx: AnyTransaction, schema: string): Promise<void> {
  await run(trx, `update ${identifier(schema)}.state set catalogue_version = catalogue_version + 1`)
}

/** Takes everything that capture has put on a table and its partitions off again. */
async function dropCapture(trx: AnyTransaction, setup: FeedSetup, { relation, triggers }: Tracked): Promise<void> {
  if (relation === null) return
  for (const place of new Set([relation, ...triggers.map((trigger) => trigger.relation)]))
    await dropTriggers(
      trx,
      place,
      triggers.filter((trigger) => trigger.relation === place).map(({ name }) => name),
    )
  await revokeLookup(trx, setup, relation)
}

async function dropTriggers(trx: AnyTransaction, relation: string, names: readonly string[]): Promise<void> {
  // Copies go with their parent's trigger, and only so.
  const rows = await run<{ table: string; name: string }>(
    trx,
    `select format('%I.%I', n.nspname, c.relname) as "table", g.tgname as name
     from pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_namespace n on n.oid = c.relnamespace
     where g.tgrelid = $1::oid and g.tgparentid = 0 and not g.tgisinternal and g.tgname in (select json_array_elements_text($2::json))`,
    [relation, JSON.stringify(names)],
  )
  for (const { table, name } of rows) await run(trx, `drop trigger ${identifier(name)} on ${table}`)
}
