import { createFeed } from '@tidemark/core'
import { Kysely, PostgresDialect } from 'kysely'
import type { Generated } from 'kysely'
import pg from 'pg'

export interface Database {
  tasks: { id: Generated<number>; tenant_id: string; title: string }
  comments: { task_id: number; n: number; tenant_id: string; body: string }
  currency: { code: string; name: string }
}

export const db: Kysely<Database> = new Kysely<Database>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) })

export const feed = createFeed({
  db,
  tables: {
    tasks: { tenant: 'tenant_id', key: 'id' },
    comments: { tenant: 'tenant_id', key: ['task_id', 'n'] },
    currency: { tenant: null, key: 'code' },
  },
})

// @ts-expect-error there is no such table
createFeed({ db, tables: { task: { tenant: 'tenant_id', key: 'id' } } })

// @ts-expect-error there is no such column
createFeed({ db, tables: { tasks: { tenant: 'tenant', key: 'id' } } })

// @ts-expect-error whether rows belong to tenants is said aloud
createFeed({ db, tables: { tasks: { key: 'id' } } })

createFeed({ db, tenancy: 'none', tables: { currency: { key: 'code' } } })
