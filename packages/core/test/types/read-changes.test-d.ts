import { expectTypeOf } from 'vitest'
import {
  createFeed,
  allTenants,
  type Audience,
  type Change,
  globalOnly,
  type ReadResult,
  readChanges,
  type ResyncReason,
  tenant,
} from '../../src/index.ts'
import { db, trx, tables } from './support.ts'

const feed = createFeed({ db, tables })

type Tables = 'tasks' | 'comments' | 'currency'

const answer = await readChanges(feed, tenant('a'), { since: 'start' })
expectTypeOf(answer).toEqualTypeOf<ReadResult<Tables>>()

// The three answers are told apart by their own keys.
if ('resync' in answer) {
  expectTypeOf(answer.resync.reason).toEqualTypeOf<ResyncReason>()
} else if ('held' in answer) {
  expectTypeOf(answer.retryAfterMs).toEqualTypeOf<number>()
} else {
  expectTypeOf(answer.changes).toEqualTypeOf<readonly Change<Tables>[]>()
  expectTypeOf(answer.cursor).toEqualTypeOf<string>()
}

// A view narrows the names in the answer.
const view = await readChanges(feed, globalOnly, { since: 'now', tables: ['tasks', 'currency'] })
if ('changes' in view) expectTypeOf(view.changes).toEqualTypeOf<readonly Change<'tasks' | 'currency'>[]>()

await readChanges(feed, allTenants('search index'), { since: 'now', limit: 10, transaction: trx })
// @ts-expect-error -- since is required
await readChanges(feed, tenant('a'), {})
// @ts-expect-error -- unknown table
await readChanges(feed, tenant('a'), { since: 'now', tables: ['task'] })
// @ts-expect-error -- a table of the database that the feed does not declare
await readChanges(feed, tenant('a'), { since: 'now', tables: ['audit.events'] })
// @ts-expect-error -- a database is no transaction
await readChanges(feed, tenant('a'), { since: 'now', transaction: db })
// @ts-expect-error -- no audience, no read
await readChanges(feed, { since: 'now' })
// @ts-expect-error -- a tenant's name is no audience
await readChanges(feed, 'a', { since: 'now' })
// @ts-expect-error -- a look-alike is no audience
await readChanges(feed, { kind: 'tenant', tenant: 'a' }, { since: 'now' })

expectTypeOf(tenant).parameter(0).toEqualTypeOf<string | number | bigint>()
expectTypeOf(globalOnly).toExtend<Audience>()
// @ts-expect-error -- reading every tenant needs a reason
allTenants()
// @ts-expect-error -- null is no tenant
tenant(null)
