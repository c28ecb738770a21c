import type { JSX } from 'react'
import { Desk } from './desk.tsx'
import { SignIn } from './session/sign-in.tsx'
import { useSession } from './session/use-session.ts'

export function App(): JSX.Element {
  const { session, ended, signIn, signOut } = useSession()
  if (session === null) return <SignIn ended={ended} signIn={signIn} />
  // Keyed by the sign-in, so that nothing of one company is ever on another's page.
  return <Desk key={session.saved.refreshToken} session={session} signOut={signOut} />
}
