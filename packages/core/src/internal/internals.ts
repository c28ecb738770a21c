import type { Catalogue, Dialect, FeedSetup } from '../dialects/dialect.ts'
import type { Feed } from '../feed.ts'

/** What stands behind a feed object. Kept apart from it, so that nothing of it is reachable from outside. */
export interface FeedInternals {
  readonly setup: FeedSetup
  readonly dialect: Dialect
  /** The catalogue as last loaded; loads it at first use. */
  catalogue(): Promise<Catalogue>
  /** Loads the catalogue anew. */
  reload(): Promise<Catalogue>
  /** Canonical text of a tenant, remembered for the most recent ones. */
  canonicalTenant(catalogue: Catalogue, value: string): Promise<string>
}

const internals = new WeakMap<object, FeedInternals>()

export function setInternals<DB, TT>(feed: Feed<DB, TT>, value: FeedInternals): void {
  internals.set(feed, value)
}

export function internalsOf<DB, TT>(feed: Feed<DB, TT>): FeedInternals {
  const found = internals.get(feed)
  if (found === undefined) throw new TypeError('"feed" was not made by createFeed()')
  return found
}
