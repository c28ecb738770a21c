import { type JSX, useState } from 'react'
import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '../../server/routers/app-router.ts'
import type { Api } from '../api.ts'
import { ShipmentRow } from './shipment-row.tsx'

/** A shipment as the server lists it. */
export type Shipment = inferRouterOutputs<AppRouter>['shipments']['list']['shipments'][number]

interface ShipmentListProps {
  readonly shipments: readonly Shipment[]
  readonly api: Api
}

/** The rows; those that were not there at first show themselves. */
export function ShipmentList({ shipments, api }: ShipmentListProps): JSX.Element {
  const [atFirst] = useState(() => new Set(shipments.map(({ id }) => id)))
  if (shipments.length === 0) return <p className="empty">No shipments here.</p>
  return (
    <ul className="rows" aria-label="Shipments">
      {shipments.map((shipment) => (
        <ShipmentRow key={shipment.id} shipment={shipment} isNew={!atFirst.has(shipment.id)} api={api} />
      ))}
    </ul>
  )
}
