import type { FeedTable } from '../declaration.ts'
import type { Feed, MigrateOptions } from '../feed.ts'

export declare function untrack<DB, TT>(
  feed: Feed<DB, TT>,
  table: FeedTable<DB, TT>,
  options?: Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>,
): Promise<void>
