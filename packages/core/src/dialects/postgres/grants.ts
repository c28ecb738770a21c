import { InvalidInputError } from '../../errors.ts'
import type { FeedSetup } from '../dialect.ts'
import { lockInstallation } from './lock-installation.ts'
import { identifier, run } from './run.ts'

/** Lets other roles read the feed and append to it, and no more. Does nothing for roles that may already. */
export async function grantReading(setup: FeedSetup, roles: readonly string[]): Promise<void> {
  const schema = identifier(setup.schema)
  const missing = await run<{ role: string; exists: string; may: string }>(
    setup.db,
    `select w.role, (r.oid is not null)::text as exists,
       coalesce(has_schema_privilege(r.oid, $2, 'usage') and has_table_privilege(r.oid, $3, 'select') and has_table_privilege(r.oid, $3, 'insert')
         and has_table_privilege(r.oid, $4, 'select') and has_table_privilege(r.oid, $5, 'select') and has_table_privilege(r.oid, $6, 'select')
         and has_table_privilege(r.oid, $7, 'select'), false)::text as may
     from json_array_elements_text($1::json) w(role) left join pg_roles r on r.rolname = w.role`,
    [
      JSON.stringify(roles),
      setup.schema,
      ...['log', 'state', 'tracked', 'floor', 'migration'].map((table) => `${schema}.${table}`),
    ],
  )
  const unknown = missing.find(({ exists }) => exists !== 'true')
  if (unknown !== undefined) throw new InvalidInputError('grantTo', `there is no role "${unknown.role}"`)
  const wanted = missing.filter(({ may }) => may !== 'true').map(({ role }) => identifier(role))
  if (wanted.length === 0) return
  await setup.db.transaction().execute(async (trx) => {
    await lockInstallation(trx, setup.schema)
    const to = wanted.join(', ')
    await run(trx, `grant usage on schema ${schema} to ${to}`)
    await run(
      trx,
      `grant select on ${schema}.log, ${schema}.state, ${schema}.tracked, ${schema}.floor, ${schema}.migration to ${to}`,
    )
    await run(trx, `grant insert on ${schema}.log to ${to}`)
  })
}
