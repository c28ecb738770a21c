import type { AnyTransaction, Catalogue, Dialect, FeedSetup } from '../dialects/dialect.ts'
import type { Feed } from '../feed.ts'

/** What stands behind a feed object. Kept apart from it, so that nothing of it is reachable from outside. */
export interface FeedInternals {
  readonly setup: FeedSetup
  readonly dialect: Dialect
  /*
   * `within`: the caller's transaction, if it gave one. Asking on another connection while this one is held would wait for ever once the
   * pool is used up.
   */
  /** The catalogue as last loaded; loads it at first use. */
  catalogue(within?: AnyTransaction): Promise<Catalogue>
  /** The catalogue, loaded anew if it does not know one of `tables` or was changed meanwhile. */
  currentCatalogue(tables: readonly string[], within: AnyTransaction): Promise<Catalogue>
  /** Loads the catalogue anew. */
  reload(within?: AnyTransaction): Promise<Catalogue>
  /** Canonical text of a tenant, remembered for the most recent ones. */
  canonicalTenant(catalogue: Catalogue, value: string, within?: AnyTransaction): Promise<string>
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
