import { expectTypeOf } from 'vitest'
import {
  createFeed,
  type DeclaredTable,
  type Feed,
  type FeedTable,
  type Finding,
  type FindingCode,
  type MigrateReport,
  type TidemarkErrorCode,
} from '../../src/index.ts'
import { type DB, db } from './support.ts'

// Declarations are checked against the app's Kysely interface.

const feed = createFeed({
  db,
  tables: {
    tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
    comments: { tenant: 'tenant_id', key: ['task_id', 'n'] },
    'audit.events': { tenant: 'tenant_id', key: 'id' },
  },
})
expectTypeOf(feed.tables).toEqualTypeOf<ReadonlyMap<'tasks' | 'comments' | 'audit.events', DeclaredTable>>()
expectTypeOf<FeedTable<DB, typeof feed.declarations>>().toEqualTypeOf<'tasks' | 'comments' | 'audit.events'>()
expectTypeOf(feed.declarations.comments.key).toExtend<readonly ['task_id', 'n']>()
expectTypeOf(feed.migrate).returns.toEqualTypeOf<Promise<MigrateReport>>()
expectTypeOf(feed.verify).returns.toEqualTypeOf<Promise<readonly Finding[]>>()
expectTypeOf(feed).toExtend<Feed<DB, typeof feed.declarations>>()

// @ts-expect-error -- unknown table
createFeed({ db, tables: { nope: { tenant: null, key: 'id' } } })
// @ts-expect-error -- unknown table beside a known one
createFeed({ db, tables: { currency: { tenant: null, key: 'code' }, nope: { tenant: null, key: 'id' } } })
// @ts-expect-error -- unknown tenant column
createFeed({ db, tables: { tasks: { tenant: 'tenantid', key: 'id' } } })
// @ts-expect-error -- unknown key column
createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'code' } } })
// @ts-expect-error -- unknown part of a composite key
createFeed({ db, tables: { comments: { tenant: 'tenant_id', key: ['task_id', 'm'] } } })
// @ts-expect-error -- empty key
createFeed({ db, tables: { comments: { tenant: 'tenant_id', key: [] } } })
// @ts-expect-error -- unknown scope column
createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['team_id'] } } })
// @ts-expect-error -- no key
createFeed({ db, tables: { tasks: { tenant: 'tenant_id' } } })
// @ts-expect-error -- global rows are an explicit choice: tenant may not be left out
createFeed({ db, tables: { tasks: { key: 'id' } } })
// @ts-expect-error -- undefined is no choice
createFeed({ db, tables: { tasks: { key: 'id', tenant: undefined } } })
// @ts-expect-error -- unknown tenancy
createFeed({ db, tenancy: 'some', tables: { currency: { tenant: null, key: 'code' } } })
// @ts-expect-error -- no tables
createFeed({ db })

// Without tenants the tenant may be left out, and only left out or null.
createFeed({ db, tenancy: 'none', tables: { tasks: { key: 'id' }, currency: { key: 'code', tenant: null } } })
// @ts-expect-error -- a tenant in a feed without tenants
createFeed({ db, tenancy: 'none', tables: { tasks: { key: 'id', tenant: 'tenant_id' } } })

// @ts-expect-error -- a feed holds its declarations read-only
feed.declarations.tasks.key = 'title'
// @ts-expect-error -- options of migrate are checked
void feed.migrate({ lockTimeout: 5 })

// @ts-expect-error -- a misspelt field would leave the table unscoped
createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'id', scope: ['project_id'] } } })

// Which triggers capture a table is said by name, or left to the table.
createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'id', capture: 'row' } } })
createFeed({ db, tenancy: 'none', tables: { tasks: { key: 'id', capture: 'statement' } } })
// @ts-expect-error -- what is asked for by leaving it out
createFeed({ db, tables: { tasks: { tenant: 'tenant_id', key: 'id', capture: 'auto' } } })
// @ts-expect-error -- a capture of another kind
createFeed({ db, tenancy: 'none', tables: { tasks: { key: 'id', capture: true } } })
expectTypeOf<DeclaredTable['capture']>().toEqualTypeOf<'auto' | 'row' | 'statement'>()
expectTypeOf<Finding>().toEqualTypeOf<{
  readonly code: FindingCode
  readonly table: string | null
  readonly problem: string
  readonly remedy: string
  readonly unseen: boolean
}>()
expectTypeOf<TidemarkErrorCode>().toExtend<FindingCode>()
