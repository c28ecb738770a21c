import { useCallback, useState } from 'react'
import type { CompanyId } from '../../shared/companies.ts'
import { loadSession, saveSession } from './saved-session.ts'
import { Session, signIn } from './session.ts'

/** Who is signed in on this tab. */
export interface SessionState {
  readonly session: Session | null
  /** Whether the last sign-in ended by itself. */
  readonly ended: boolean
  /** Rejects when the server cannot be reached. */
  signIn(company: CompanyId): Promise<void>
  signOut(): void
}

export function useSession(): SessionState {
  const [ended, setEnded] = useState(false)
  const [session, setSession] = useState<Session | null>(() => {
    const saved = loadSession()
    return saved === null ? null : new Session(saved, { onEnded: () => leave(true) })
  })

  function leave(byItself: boolean): void {
    saveSession(null)
    setEnded(byItself)
    setSession(null)
  }

  const enter = useCallback(async (company: CompanyId) => {
    const entered = await signIn(company, { onEnded: () => leave(true) })
    saveSession(entered.saved)
    setEnded(false)
    setSession(entered)
  }, [])
  const signOut = useCallback(() => leave(false), [])
  return { session, ended, signIn: enter, signOut }
}
