import { InsufficientRightsError } from '../../../errors.ts'
import type { AnyTransaction, FeedSetup } from '../../dialect.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, qualified, run, sqlState } from '../run.ts'
import { policyName } from './names.ts'
import { type CapturePlan, trackedColumns } from './plan-capture.ts'

/**
 * Lets the capture role look up the keys of a table, and nothing else of it: the columns that make up key, tenant and scopes, of all rows. A policy
 * is made only where row security is on: to make one takes the table from its readers for a moment.
 */
export async function grantLookup(trx: AnyTransaction, setup: FeedSetup, plan: CapturePlan): Promise<void> {
  const { facts } = plan
  const role = identifier(setup.captureRole)
  const table = qualified(facts)
  const columns = trackedColumns(plan).map(({ name }) => identifier(name))
  const surplus = facts.captureRole.granted.map(identifier).filter((name) => !columns.includes(name))
  if (surplus.length > 0) await run(trx, `revoke select (${surplus.join(', ')}) on ${table} from ${role}`)
  await run(trx, `grant select (${columns.join(', ')}) on ${table} to ${role}`)
  if (!(await mayUseSchema(trx, setup.captureRole, facts.schema))) {
    const step = `grant usage on schema ${identifier(facts.schema)} to ${role}`
    try {
      await run(trx, step)
    } catch (error) {
      if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
      throw cannotGrant(facts.schema, setup.captureRole, step, { cause: error })
    }
    // Without the right to grant, Postgres only warns.
    if (!(await mayUseSchema(trx, setup.captureRole, facts.schema)))
      throw cannotGrant(facts.schema, setup.captureRole, step)
  }
  if (facts.captureRole.policy === facts.rowSecurity) return
  const policy = identifier(policyName(setup.schema))
  await run(trx, `drop policy if exists ${policy} on ${table}`)
  if (facts.rowSecurity)
    await run(trx, `create policy ${policy} on ${table} as permissive for select to ${role} using (true)`)
}

/** Whether the policy must be made or dropped, for which Postgres takes the table from its readers too. */
export function changesPolicy({ reusesKeys, facts }: CapturePlan): boolean {
  return facts.captureRole.policy !== (reusesKeys && facts.rowSecurity)
}

/** Takes that right away again. The right to use the schema stays: other tables may need it, and it shows nothing by itself. */
export async function revokeLookup(trx: AnyTransaction, setup: FeedSetup, relation: string): Promise<void> {
  const [found] = await run<{ table: string; columns: string | null; policy: string }>(
    trx,
    `select format('%I.%I', n.nspname, c.relname) as "table", exists (select from pg_policy p where p.polrelid = c.oid and p.polname = $2)::text as policy,
       (select string_agg(format('%I', a.attname), ', ') from pg_attribute a join pg_roles r on r.rolname = $3, aclexplode(a.attacl) x
        where a.attrelid = c.oid and x.grantee = r.oid and x.privilege_type = 'SELECT') as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = $1::oid`,
    [relation, policyName(setup.schema), setup.captureRole],
  )
  if (found === undefined) return
  if (found.policy === 'true') await run(trx, `drop policy ${identifier(policyName(setup.schema))} on ${found.table}`)
  if (found.columns !== null)
    await run(trx, `revoke select (${found.columns}) on ${found.table} from ${identifier(setup.captureRole)}`)
}

async function mayUseSchema(trx: AnyTransaction, role: string, schema: string): Promise<boolean> {
  const [row] = await run<{ may: string }>(
    trx,
    `select has_schema_privilege($1::name, $2::text, 'usage')::text as may`,
    [role, schema],
  )
  return row?.may === 'true'
}

function cannotGrant(schema: string, role: string, step: string, options?: ErrorOptions): InsufficientRightsError {
  return new InsufficientRightsError(
    `the capture role "${role}" must look up keys in schema "${schema}" and may not use it: run the steps as the schema's owner`,
    [step],
    options,
  )
}
