import { type JSX, useCallback } from 'react'
import type { Api } from '../api.ts'
import { useLoaded } from '../hooks/use-loaded.ts'

/** What to try beside the page. */
export function FromOutside({ trpc }: Pick<Api, 'trpc'>): JSX.Element {
  const load = useCallback((signal: AbortSignal) => trpc.about.query(undefined, { signal }), [trpc])
  const about = useLoaded(load, 0).data
  return (
    <section className="card outside" aria-labelledby="outside-heading">
      <h2 id="outside-heading">Write from elsewhere</h2>
      {about?.othersCanWrite === true && (
        <>
          <p>Any write is followed. From a second terminal:</p>
          <pre tabIndex={0} aria-label="Command">
            <code>npx -y pnpm@10.34.9 demo:seed</code>
          </pre>
          <p>or SQL, with the line that the server printed:</p>
          <pre tabIndex={0} aria-label="Example of SQL">
            <code>{`update shipments
   set status = 'delivered'
 where status = 'in_transit';`}</code>
          </pre>
        </>
      )}
      {about?.othersCanWrite === false && (
        <p>
          Not here: PGlite lives inside the server’s process, and nothing else can connect to it. Open a second tab, or
          start the demo without DEMO_DB=pglite.
        </p>
      )}
    </section>
  )
}
