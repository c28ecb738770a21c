import type { SyncClient, SyncSnapshot } from '@tidemark/client'
import { useSyncStatus } from '@tidemark/client/react'
import type { JSX } from 'react'
import type { Table } from './api.ts'

/** How following the feed goes. */
export function SyncBadge({ sync }: { readonly sync: SyncClient<Table> }): JSX.Element {
  const snapshot = useSyncStatus(sync)
  return (
    <div className={`sync ${snapshot.status}`}>
      <p role="status" title="How following the change feed goes">
        <span className="dot" aria-hidden="true" />
        {describe(snapshot)}
      </p>
      {snapshot.status === 'failed' && (
        <button type="button" className="quiet" onClick={() => sync.start()}>
          Try again
        </button>
      )}
    </div>
  )
}

function describe(snapshot: SyncSnapshot): string {
  switch (snapshot.status) {
    case 'idle':
      return 'Not following'
    case 'connecting':
      return 'Connecting …'
    case 'upToDate':
      return 'Up to date'
    case 'behind':
      return 'Catching up …'
    case 'paused':
      return snapshot.reason === 'offline'
        ? 'Offline: goes on when the network is back'
        : 'Paused while the tab is hidden'
    case 'retrying':
      return `Trying again: ${reason(snapshot.error.code)}`
    case 'failed':
      return `Stopped: ${reason(snapshot.error.code)}`
  }
}

function reason(code: NonNullable<SyncSnapshot['error']>['code']): string {
  switch (code) {
    case 'network':
    case 'timeout':
      return 'the server does not answer'
    case 'unavailable':
      return 'the server is not ready'
    case 'unauthorized':
      return 'the sign-in is refused'
    case 'listener':
      return 'the page could not take in a change'
    default:
      return 'the server’s answer is not as expected'
  }
}
