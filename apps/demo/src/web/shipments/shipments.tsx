import { useTableVersion } from '@tidemark/client/react'
import { type JSX, useCallback, useState } from 'react'
import { type ShipmentStatus, shipmentStatuses, statusLabels } from '../../shared/shipment-status.ts'
import type { Api } from '../api.ts'
import { number } from '../format.ts'
import { useLoaded } from '../hooks/use-loaded.ts'
import { ShipmentList } from './shipment-list.tsx'

type Filter = ShipmentStatus | 'all'

/** The company's shipments. They are read anew when their tables change, and only then. */
export function Shipments({ api }: { readonly api: Api }): JSX.Element {
  const { trpc, sync } = api
  const [filter, setFilter] = useState<Filter>('all')
  const version = useTableVersion(sync, ['shipments', 'notes', 'cities'])
  const load = useCallback(
    async (signal: AbortSignal) => ({
      filter,
      ...(await trpc.shipments.list.query(filter === 'all' ? {} : { status: filter }, { signal })),
    }),
    [trpc, filter],
  )
  const { data, reads, loading, error, retry } = useLoaded(load, version)
  const total = data === undefined ? undefined : shipmentStatuses.reduce((sum, status) => sum + data.counts[status], 0)
  const countOf = (of: Filter): number | undefined => (of === 'all' ? total : data?.counts[of])
  const matching = data === undefined ? 0 : (countOf(data.filter) ?? 0)
  return (
    <section className="card shipments" aria-labelledby="shipments-heading" aria-busy={loading}>
      <div className="head">
        <h2 id="shipments-heading">Shipments</h2>
        <div className="filters" role="group" aria-label="Show">
          {(['all', ...shipmentStatuses] as const).map((of) => (
            <button key={of} type="button" aria-pressed={of === filter} onClick={() => setFilter(of)}>
              {of === 'all' ? 'All' : statusLabels[of]} <span className="count">{countOf(of) ?? ''}</span>
            </button>
          ))}
        </div>
      </div>
      {error !== null && (
        <p className="notice bad" role="alert">
          The shipments could not be read: {error}.{' '}
          <button type="button" className="quiet" onClick={retry}>
            Try again
          </button>
        </p>
      )}
      {data === undefined ? (
        error === null && <p className="empty">Reading …</p>
      ) : (
        <ShipmentList key={data.filter} shipments={data.shipments} api={api} />
      )}
      <p className="foot">
        {matching > (data?.limit ?? 0) && data !== undefined && (
          <>
            The newest {data.limit} of {number(matching)}.{' '}
          </>
        )}
        Read <output data-testid="reads">{reads}</output> {reads === 1 ? 'time' : 'times'} so far: once more whenever
        shipments, notes or cities change, never otherwise.
      </p>
    </section>
  )
}
