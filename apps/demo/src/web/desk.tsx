import { useTableVersion } from '@tidemark/client/react'
import { type JSX, useCallback, useEffect, useRef, useState } from 'react'
import { findCompany } from '../shared/companies.ts'
import { createApi } from './api.ts'
import { ChangesPanel } from './changes/changes-panel.tsx'
import { FromOutside } from './changes/from-outside.tsx'
import { Credit } from './credit.tsx'
import { useLoaded } from './hooks/use-loaded.ts'
import { Logo } from './logo.tsx'
import type { Session } from './session/session.ts'
import { NewShipment } from './shipments/new-shipment.tsx'
import { Shipments } from './shipments/shipments.tsx'
import { SyncBadge } from './sync-badge.tsx'

interface DeskProps {
  readonly session: Session
  readonly signOut: () => void
}

/** One company's desk: all that is shown to somebody who is signed in. */
export function Desk({ session, signOut }: DeskProps): JSX.Element {
  const [api] = useState(() => createApi(session))
  const cities = useCityCount(api)
  const heading = useRef<HTMLHeadingElement>(null)
  // Where somebody who has just signed in goes on.
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const company = findCompany(session.company)
  return (
    <div className="desk">
      <header className={`bar ${session.company}`}>
        <Logo />
        <h1 className="brand" ref={heading} tabIndex={-1}>
          Freight dispatch <strong>{company?.name}</strong>
        </h1>
        <SyncBadge sync={api.sync} />
        <button type="button" className="quiet" onClick={signOut}>
          Sign out
        </button>
      </header>
      <div className="columns">
        <main>
          <NewShipment api={api} />
          <Shipments api={api} />
        </main>
        <aside aria-label="The feed">
          <ChangesPanel sync={api.sync} />
          <FromOutside trpc={api.trpc} />
        </aside>
      </div>
      <Credit cities={cities} />
    </div>
  )
}

function useCityCount({ trpc, sync }: ReturnType<typeof createApi>): number | undefined {
  const load = useCallback((signal: AbortSignal) => trpc.cities.count.query(undefined, { signal }), [trpc])
  return useLoaded(load, useTableVersion(sync, 'cities')).data
}
