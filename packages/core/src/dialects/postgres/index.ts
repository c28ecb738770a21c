import type { Dialect } from '../dialect.ts'
import { appendEntries } from './append-entries.ts'
import { canonicalTenant, currentVersion, loadCatalogue } from './catalogue.ts'
import { migrate, untrack } from './migrate.ts'
import { readPage } from './read-page.ts'
import { INVALID_PARAMETER_VALUE, run, sqlState } from './run.ts'
import { verify } from './verify.ts'

/** Postgres 15 and later, and PGlite, which is Postgres. */
export const postgres: Dialect = {
  migrate,
  verify,
  untrack,
  loadCatalogue,
  currentVersion,
  canonicalTenant,
  readPage,
  readOnly: (setup, work) =>
    setup.db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
  isAhead: async (setup, xid) => {
    try {
      await run(setup.db, `select pg_xact_status($1::text::xid8)`, [String(xid)])
      return false
    } catch (error) {
      if (sqlState(error) === INVALID_PARAMETER_VALUE) return true
      throw error
    }
  },
  append: appendEntries,
}
