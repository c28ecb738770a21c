import { expectTypeOf } from 'vitest'
import {
  createFeed,
  allTenants,
  appendChange,
  type AppendResult,
  globalOnly,
  type KeyInput,
  notify,
  tenant,
  untrack,
} from '../../src/index.ts'
import { type DB, db, trx, tables } from './support.ts'

const feed = createFeed({ db, tables })

type Declarations = typeof feed.declarations
expectTypeOf<KeyInput<DB, Declarations, 'tasks'>>().toEqualTypeOf<number>()
expectTypeOf<KeyInput<DB, Declarations, 'comments'>>().toEqualTypeOf<Readonly<{ task_id: number; n: number }>>()
expectTypeOf<KeyInput<DB, Declarations, 'currency'>>().toEqualTypeOf<string>()

const result = await notify(feed, trx, tenant('a'), {
  entries: [
    { table: 'comments', keys: [{ task_id: 1, n: 2 }, '["1","3"]'] },
    { table: 'tasks', keys: [1], scopes: { project_id: 7 } },
    { table: 'currency' },
  ],
  reason: 'import',
  actor: 'job',
})
expectTypeOf(result).toEqualTypeOf<AppendResult>()
await appendChange(feed, trx, globalOnly, { table: 'currency', operation: 'delete', keys: ['EUR'] })

// @ts-expect-error -- another part of a composite key
await notify(feed, trx, tenant('a'), { entries: [{ table: 'comments', keys: [{ task_id: 1, m: 2 }] }] })
// @ts-expect-error -- a composite key is no single value
await notify(feed, trx, tenant('a'), { entries: [{ table: 'comments', keys: [1] }] })
// @ts-expect-error -- a key of another type
await notify(feed, trx, tenant('a'), { entries: [{ table: 'tasks', keys: [true] }] })
// @ts-expect-error -- unknown table
await notify(feed, trx, tenant('a'), { entries: [{ table: 'task' }] })
// @ts-expect-error -- a table of the database that the feed does not declare
await notify(feed, trx, tenant('a'), { entries: [{ table: 'audit.events' }] })
// @ts-expect-error -- not everyone's rows at once
await notify(feed, trx, allTenants('why'), { entries: [{ table: 'tasks' }] })
// @ts-expect-error -- a database is no transaction
await notify(feed, db, tenant('a'), { entries: [{ table: 'tasks' }] })
// @ts-expect-error -- unknown operation
await appendChange(feed, trx, tenant('a'), { table: 'tasks', operation: 'upsert', keys: [1] })
// @ts-expect-error -- no operation
await appendChange(feed, trx, tenant('a'), { table: 'tasks', keys: [1] })

await untrack(feed, 'tasks', { lockTimeoutMs: 100 })
// @ts-expect-error -- unknown table
await untrack(feed, 'task')
