import { findCompany } from '../../shared/companies.ts'
import type { SavedSession } from './session.ts'

const ITEM = 'freight-dispatch'

// Of the tab, not of the browser: two tabs may be two companies.

/** The sign-in of this tab before it was reloaded. */
export function loadSession(): SavedSession | null {
  try {
    const saved = JSON.parse(sessionStorage.getItem(ITEM) ?? 'null') as Partial<SavedSession> | null
    const company = findCompany(saved?.company)
    return company === undefined || typeof saved?.refreshToken !== 'string'
      ? null
      : { company: company.id, refreshToken: saved.refreshToken }
  } catch {
    return null
  }
}

/** Keeps the sign-in over a reload, or forgets it. Where storage is forbidden a reload signs out. */
export function saveSession(session: SavedSession | null): void {
  try {
    if (session === null) sessionStorage.removeItem(ITEM)
    else sessionStorage.setItem(ITEM, JSON.stringify(session))
  } catch {
    // Nothing to do: the page works without.
  }
}
