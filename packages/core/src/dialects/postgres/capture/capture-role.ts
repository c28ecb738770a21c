import { InsufficientRightsError } from '../../../errors.ts'
import type { AnyTransaction, FeedSetup } from '../../dialect.ts'
import { identifier, INSUFFICIENT_PRIVILEGE, literal, run, sqlState } from '../run.ts'

/**
 * Makes sure that the role which owns the capture functions exists, is no superuser, and that this session may give it functions to own
 * (docs/capture.md, "Security").
 */
export async function ensureCaptureRole(
  trx: AnyTransaction,
  { captureRole: role, schema }: Pick<FeedSetup, 'captureRole' | 'schema'>,
): Promise<void> {
  const [facts] = await run<{
    me: string
    exists: string
    superuser: string
    mayCreate: string
    isSuper: string
    major: string
    member: string
  }>(
    trx,
    `select quote_ident(me.rolname) as me, (r.oid is not null)::text as exists, coalesce(r.rolsuper, false)::text as superuser,
       (me.rolsuper or me.rolcreaterole)::text as "mayCreate", me.rolsuper::text as "isSuper",
       (current_setting('server_version_num')::int / 10000)::text as major,
       (r.oid is not null and pg_has_role(me.oid, r.oid, 'USAGE'))::text as member
     from pg_roles me left join pg_roles r on r.rolname = $1 where me.rolname = current_user`,
    [role],
  )
  const create = `create role ${identifier(role)} nologin`
  const grant = `grant ${identifier(role)} to ${facts?.me}${Number(facts?.major) >= 16 ? ' with inherit true, set true' : ''}`
  if (facts?.superuser === 'true') {
    throw new InsufficientRightsError(`the capture role "${role}" is a superuser: name another with captureRole`, [])
  }
  if (facts?.exists !== 'true') {
    if (facts?.mayCreate !== 'true') {
      throw new InsufficientRightsError(
        `the capture role "${role}" does not exist and this role may not create it: run the steps as a role that may`,
        [create, grant],
      )
    }
    // Roles belong to the whole cluster: another database's installation may make the same one at this moment.
    await run(
      trx,
      `do ${literal(`begin ${create}; exception when duplicate_object or unique_violation then null; end`)}`,
    )
  }
  // Two feeds would take from each other what each of them needs to look up.
  const [other] = await run<{ schema: string }>(
    trx,
    `select n.nspname as schema from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
     where r.rolname = $1 and n.nspname <> $2 limit 1`,
    [role, schema],
  )
  if (other !== undefined) {
    throw new InsufficientRightsError(
      `the capture role "${role}" serves schema "${other.schema}" already: name another for this feed with captureRole`,
      [],
    )
  }
  if (facts?.isSuper === 'true' || facts?.member === 'true') return
  try {
    await run(trx, grant)
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error
    throw new InsufficientRightsError(
      `this role is no member of the capture role "${role}": run the steps as a role that may grant it, or name another with captureRole`,
      [grant],
      { cause: error },
    )
  }
}
