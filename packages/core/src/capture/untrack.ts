import type { FeedTable, TableName } from '../declaration.ts'
import type { Feed, MigrateOptions } from '../feed.ts'
import { internalsOf } from '../internal/internals.ts'
import { checkLockOptions } from '../migrate-options.ts'

/**
 * Ends the capture of a table: its triggers and their functions are removed, what the log holds stays until it is pruned, and a
 * table-level entry says that later writes are not seen. The only call that removes anything; other tables are not touched.
 *
 * Take the table out of `createFeed({ tables })`, before or after: `migrate()` would install it again, and reading it is refused meanwhile.
 *
 * @param table its name as it was declared; it need not be declared any more.
 * @throws `UnknownTableError` when the table was never tracked; `LockTimeoutError` when its lock is not granted in time.
 */
export async function untrack<DB, TT>(
  feed: Feed<DB, TT>,
  table: FeedTable<DB, TT> | TableName<DB>,
  options: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'> = {},
): Promise<void> {
  const internals = internalsOf(feed)
  checkLockOptions(options)
  await internals.dialect.untrack(internals.setup, table, options)
  await internals.reload()
}
