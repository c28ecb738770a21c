import { type JSX, useEffect, useRef } from 'react'
import { companies, type CompanyId } from '../../shared/companies.ts'
import { Credit } from '../credit.tsx'
import { useAction } from '../hooks/use-action.ts'
import { Logo } from '../logo.tsx'

interface SignInProps {
  /** Whether the former sign-in ended by itself. */
  readonly ended: boolean
  readonly signIn: (company: CompanyId) => Promise<void>
}

/** The choice of a company: all there is of a sign-in. */
export function SignIn({ ended, signIn }: SignInProps): JSX.Element {
  const { run, busy, error } = useAction(signIn)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <main className="sign-in">
      <div className="hero">
        <Logo />
        <h1 ref={heading} tabIndex={-1}>
          Freight dispatch
        </h1>
        <p>
          Two companies share one database. Each sees its own shipments and nothing of the other’s, and sees every
          change within a second, whoever made it.
        </p>
      </div>
      <div className="choice">
        <div>
          {ended && (
            <p className="notice" role="status">
              Your sign-in has ended. Choose a company again.
            </p>
          )}
          {error !== null && (
            <p className="notice bad" role="alert">
              Signing in failed: {error}.
            </p>
          )}
          <h2>Who are you today?</h2>
          <ul className="companies">
            {companies.map(({ id, name, home, prefix }) => (
              <li key={id}>
                <button type="button" disabled={busy} onClick={() => run(id)}>
                  <span className={`crest ${id}`} aria-hidden="true">
                    {prefix}
                  </span>
                  <span>
                    <strong>{name}</strong>
                    <small>Dispatch desk, {home}</small>
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <p className="hint">Open a second tab as the other company, or as the same: each tab signs in for itself.</p>
        </div>
        <Credit />
      </div>
    </main>
  )
}
