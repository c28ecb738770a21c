import { useEffect, useRef } from 'react'
import type { ChangesEvent, ResyncEvent, SyncClient } from '../sync-client.ts'

/** Options of {@link useChanges}. */
export interface UseChangesOptions<T extends string> {
  /** Only changes of these tables. Default: all that the client follows. */
  readonly tables?: readonly T[] | undefined
  /**
   * Called with each page that holds changes of these tables. Awaited, and called again if it throws, as by {@link
   * SyncClient}.
   */
  readonly onChanges: (event: ChangesEvent<T>) => unknown
  /** Called when everything read before may be old. */
  readonly onResync?: ((event: ResyncEvent) => unknown) | undefined
}

/**
 * Listens to changes while the component is mounted, and keeps the client following. Options may be written inline: the
 * latest callbacks are used, and nothing is subscribed anew unless the client or the names of the tables change.
 *
 * @example
 * useChanges(sync, { tables: ['notes'], onChanges: ({ changes }) => highlight(changes.map((change) => change.key)) })
 */
export function useChanges<T extends string, const S extends NoInfer<T> = T>(
  sync: SyncClient<T>,
  options: UseChangesOptions<S>,
): void {
  const latest = useRef(options)
  // Before the subscribing effect, so that it never meets callbacks of an older render.
  useEffect(() => {
    latest.current = options
  })

  const { onChanges, onResync, retain } = sync
  const names = options.tables === undefined ? null : JSON.stringify([...options.tables].sort())
  useEffect(() => {
    const wanted = names === null ? null : new Set<string>(JSON.parse(names) as string[])
    const isWanted = (change: { readonly table: string }): boolean => wanted === null || wanted.has(change.table)
    const ends = [
      onChanges(async (event) => {
        const changes = event.changes.filter(isWanted) as unknown as ChangesEvent<S>['changes']
        if (changes.length > 0) await latest.current.onChanges({ ...event, changes })
      }),
      onResync(async (event) => await latest.current.onResync?.(event)),
      retain(),
    ]
    return () => {
      for (const end of ends) end()
    }
  }, [onChanges, onResync, retain, names])
}
