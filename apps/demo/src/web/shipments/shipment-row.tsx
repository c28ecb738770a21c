import { type JSX, useId, useState } from 'react'
import { nextStatuses, type ShipmentStatus, statusLabels, stepLabels } from '../../shared/shipment-status.ts'
import type { Api } from '../api.ts'
import { countryName, dayTime, number } from '../format.ts'
import { useAction } from '../hooks/use-action.ts'
import { Notes } from './notes.tsx'
import type { Shipment } from './shipment-list.tsx'

interface ShipmentRowProps {
  readonly shipment: Shipment
  /** Whether it came after the list was first shown. */
  readonly isNew: boolean
  readonly api: Api
}

export function ShipmentRow({ shipment, isNew, api }: ShipmentRowProps): JSX.Element {
  const { id, status, origin, destination, cargo, weightKg, createdAt, noteCount } = shipment
  const [isOpen, setOpen] = useState(false)
  const notesId = useId()
  const content = JSON.stringify(shipment)
  const [contentAtFirst] = useState(content)
  const { run, busy, error } = useAction(async (next: ShipmentStatus) => {
    await api.trpc.shipments.setStatus.mutate({ id, status: next })
    api.sync.poll()
  })
  return (
    <li className={`row ${status}`}>
      {/* Another element for each content, so that its animation begins anew. */}
      {(isNew || content !== contentAtFirst) && <span key={content} className="flash" aria-hidden="true" />}
      <div className="ident">
        <strong>#{id}</strong>
        <time dateTime={createdAt.toISOString()}>{dayTime(createdAt)}</time>
      </div>
      <div className="journey">
        <p className="route">
          <Place {...origin} />
          <span className="track" aria-hidden="true">
            <span className="progress" />
          </span>
          <span className="visually-hidden">to</span>
          <Place {...destination} />
        </p>
        <p className="load">
          {cargo} · {number(weightKg)} kg · {number(shipment.distanceKm)} km
        </p>
      </div>
      <p className="status">
        <span className={`pill ${status}`}>{statusLabels[status]}</span>
      </p>
      <div className="actions">
        <button
          type="button"
          className="quiet"
          aria-expanded={isOpen}
          aria-controls={notesId}
          onClick={() => setOpen(!isOpen)}
        >
          Notes <span className="count">{noteCount}</span>
          <span className="visually-hidden"> of shipment {id}</span>
        </button>
        {nextStatuses[status].map((next) => (
          <button
            key={next}
            type="button"
            className={next === 'cancelled' ? 'quiet' : 'step'}
            disabled={busy}
            onClick={() => run(next)}
          >
            {stepLabels[next]}
            <span className="visually-hidden"> shipment {id}</span>
          </button>
        ))}
      </div>
      {error !== null && (
        <p className="notice bad" role="alert">
          {error}.
        </p>
      )}
      <div id={notesId} className="notes" hidden={!isOpen}>
        {isOpen && <Notes shipmentId={id} api={api} />}
      </div>
    </li>
  )
}

function Place({ name, country }: { readonly name: string; readonly country: string }): JSX.Element {
  return (
    <span className="place">
      {name} <abbr title={countryName(country)}>{country}</abbr>
    </span>
  )
}
