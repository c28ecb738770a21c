import { createFeed, readChanges, notify, tenant, globalOnly } from '../../src/index.ts'
import type { Generated, Kysely, Transaction } from 'kysely'
interface DB { tasks: { id: Generated<number>; tenant_id: string; project_id: number; title: string }; comments: { task_id: number; n: number; tenant_id: string }; currency: { code: string } }
declare const db: Kysely<DB>; declare const trx: Transaction<DB>
const feed = createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] }, comments: { tenant: 'tenant_id', key: ['task_id', 'n'] }, currency: { tenant: null, key: 'code' } } })
const r = await readChanges(feed, tenant('a'), { since: 'now', tables: ['tasks'] })
if ('changes' in r) { const t: 'tasks' = r.changes[0]!.table; void t }
await notify(feed, trx, globalOnly, { entries: [{ table: 'comments', keys: [{ task_id: 1, n: 2 }] }, { table: 'tasks', keys: [1] }] })
// @ts-expect-error unknown table
createFeed({ db, tables: { nope: { tenant: null, key: 'id' } } })
// @ts-expect-error unknown column
createFeed({ db, tables: { tasks: { tenant: 'tenantid', key: 'id' } } })
// @ts-expect-error tenant is required
createFeed({ db, tables: { tasks: { key: 'id' } } })
createFeed({ db, tenancy: 'none', tables: { tasks: { key: 'id' } } })
// @ts-expect-error unknown table
await readChanges(feed, tenant('a'), { since: 'now', tables: ['task'] })
// @ts-expect-error since is required
await readChanges(feed, tenant('a'), {})
// @ts-expect-error composite key column
await notify(feed, trx, globalOnly, { entries: [{ table: 'comments', keys: [{ task_id: 1, m: 2 }] }] })
