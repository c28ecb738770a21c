import { createSyncRouter } from '@tidemark/api'
import type { Kysely } from 'kysely'
import type { Database } from '../database/database.ts'
import type { DemoFeed } from '../feed.ts'
import { companyProcedure, t } from '../trpc.ts'
import { createCitiesRouter } from './cities.ts'
import { createNotesRouter } from './notes.ts'
import { createShipmentsRouter } from './shipments.ts'

/**
 * The app's procedures, and beside them the feed's.
 *
 * @param about what the page says of the installation.
 */
export function createAppRouter(db: Kysely<Database>, feed: DemoFeed, about: { readonly othersCanWrite: boolean }) {
  return t.router({
    shipments: createShipmentsRouter(db),
    notes: createNotesRouter(db),
    cities: createCitiesRouter(db),
    /** Whether other processes can write to the database: not to PGlite. */
    about: companyProcedure.query(() => about),
    sync: createSyncRouter(t, { feed }),
  })
}

export type AppRouter = ReturnType<typeof createAppRouter>
