import type { AnyTransaction, Catalogue, Dialect, FeedSetup } from '../dialects/dialect.ts'
import type { FeedInternals } from './internals.ts'

/** Tenants whose canonical text is remembered. */
const REMEMBERED_TENANTS = 10_000

export function createInternals(setup: FeedSetup, dialect: Dialect): FeedInternals {
  let loading: Promise<Catalogue> | null = null
  let loaded: Catalogue | null = null
  let texts = new Map<string, string>()

  const on = (within?: AnyTransaction): FeedSetup => (within === undefined ? setup : { ...setup, db: within })

  const load = async (within?: AnyTransaction): Promise<Catalogue> => {
    const catalogue = await dialect.loadCatalogue(on(within))
    texts = new Map()
    loaded = catalogue
    return catalogue
  }

  // Callers without a transaction share one load; a failed one is not remembered, for the feed may be migrated a moment later.
  const reload = (within?: AnyTransaction): Promise<Catalogue> => {
    if (within !== undefined) return load(within)
    loading ??= load().finally(() => {
      loading = null
    })
    return loading
  }

  return {
    setup,
    dialect,
    reload,
    catalogue: async (within) => loaded ?? reload(within),
    currentCatalogue: async (tables, within) => {
      const known = loaded
      if (known === null || tables.some((name) => setup.tables.has(name) && !known.byName.has(name)))
        return reload(within)
      return (await dialect.currentVersion(on(within))) === known.version ? known : reload(within)
    },
    canonicalTenant: async ({ tenantType }, value, within) => {
      if (tenantType === null) return value
      const known = texts.get(value)
      if (known !== undefined) return known
      const text = await dialect.canonicalTenant(on(within), tenantType, value)
      if (texts.size >= REMEMBERED_TENANTS) texts.delete(texts.keys().next().value ?? value)
      texts.set(value, text)
      return text
    },
  }
}
