import type { FeedTable } from '../declaration.ts'
import { UnknownTableError } from '../errors.ts'
import type { Feed, MigrateOptions } from '../feed.ts'
import { internalsOf } from '../internal/internals.ts'

/**
 * Ends the capture of a table: its triggers and their functions are removed, what the log holds stays until it is pruned, and a
 * table-level entry says that later writes are not seen. The only call that removes anything; other tables are not touched.
 *
 * Take the table out of `createFeed({ tables })` as well: `migrate()` would install it again, and reading it is refused meanwhile.
 *
 * @throws {UnknownTableError} when the table is not declared or was never tracked; `LockTimeoutError` when its lock is not granted in time.
 */
export async function untrack<DB, TT>(
  feed: Feed<DB, TT>,
  table: FeedTable<DB, TT>,
  options: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'> = {},
): Promise<void> {
  const internals = internalsOf(feed)
  if (!internals.setup.tables.has(table)) throw new UnknownTableError('table')
  await internals.dialect.untrack(internals.setup, table, options)
  await internals.reload()
}
