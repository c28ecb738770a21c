import { createFeed } from '@tidemark/core'
import type { Kysely } from 'kysely'
import type { Database } from './database/database.ts'

/** The change feed over all three tables. */
export function createDemoFeed(db: Kysely<Database>) {
  return createFeed({
    db,
    tables: {
      cities: { tenant: null, key: 'id' },
      shipments: { tenant: 'company_id', key: 'id' },
      notes: { tenant: 'company_id', key: 'id' },
    },
  })
}

export type DemoFeed = ReturnType<typeof createDemoFeed>
