import { InsufficientRightsError } from '../../errors.ts'
import type { AnyTransaction } from '../dialect.ts'
import { identifier, literal, run } from './run.ts'

/**
 * Makes sure that the role which owns the capture functions exists, is no superuser, and that this session may give it functions to own
 * (docs/capture.md, "Security").
 */
export async function ensureCaptureRole(trx: AnyTransaction, role: string): Promise<void> {
  const [facts] = await run<{ exists: string; superuser: string; mayCreate: string; isSuper: string; major: string; member: string }>(
    trx,
    `select (r.oid is not null)::text as exists, coalesce(r.rolsuper, false)::text as superuser,
       (me.rolsuper or me.rolcreaterole)::text as "mayCreate", me.rolsuper::text as "isSuper",
       (current_setting('server_version_num')::int / 10000)::text as major,
       (r.oid is not null and pg_has_role(me.oid, r.oid, 'USAGE'))::text as member
     from pg_roles me left join pg_roles r on r.rolname = $1 where me.rolname = current_user`,
    [role],
  )
  const sql = `create role ${identifier(role)} nologin; grant ${identifier(role)} to current_user;`
  if (facts?.superuser === 'true') {
    throw new InsufficientRightsError(`the capture role "${role}" is a superuser: name another with captureRole`, [])
  }
  if (facts?.exists !== 'true') {
    if (facts?.mayCreate !== 'true') {
      throw new InsufficientRightsError(`the capture role "${role}" does not exist and this role may not create it: run the steps as a role that may`, [sql])
    }
    // Roles belong to the whole cluster: another database's installation may make the same one at this moment.
    await run(trx, `do ${literal(`begin create role ${identifier(role)} nologin; exception when duplicate_object or unique_violation then null; end`)}`)
  }
  if (facts?.isSuper === 'true' || facts?.member === 'true') return
  const options = Number(facts?.major) >= 16 ? ' with inherit true, set true' : ''
  await run(trx, `grant ${identifier(role)} to current_user${options}`)
}
