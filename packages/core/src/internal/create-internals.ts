import type { Catalogue, Dialect, FeedSetup } from '../dialects/dialect.ts'
import type { FeedInternals } from './internals.ts'

/** Tenants whose canonical text is remembered. */
const REMEMBERED_TENANTS = 10_000

export function createInternals(setup: FeedSetup, dialect: Dialect): FeedInternals {
  let loading: Promise<Catalogue> | null = null
  let texts = new Map<string, string>()

  const reload = (): Promise<Catalogue> => {
    texts = new Map()
    const attempt = dialect.loadCatalogue(setup)
    loading = attempt
    // A failure is not remembered: the feed may be migrated a moment later.
    attempt.catch(() => {
      if (loading === attempt) loading = null
    })
    return attempt
  }

  return {
    setup,
    dialect,
    reload,
    catalogue: () => loading ?? reload(),
    canonicalTenant: async ({ tenantType }, value) => {
      if (tenantType === null) return value
      const known = texts.get(value)
      if (known !== undefined) return known
      const text = await dialect.canonicalTenant(setup, tenantType, value)
      if (texts.size >= REMEMBERED_TENANTS) texts.delete(texts.keys().next().value ?? value)
      texts.set(value, text)
      return text
    },
  }
}
