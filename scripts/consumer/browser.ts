// The client alone, in a program that knows no Node types.
import { createSyncClient, webStorageStore } from '@tidemark/client'
import type { ChangesInput, ChangesOutput, SyncClient } from '@tidemark/client'
import { useChanges } from '@tidemark/client/react'

declare const trpc: {
  readonly changes: {
    query(input: ChangesInput<'tasks'>, options?: { signal?: AbortSignal }): Promise<ChangesOutput<'tasks'>>
  }
}

export const sync: SyncClient<'tasks'> = createSyncClient({
  trpc,
  store: webStorageStore(localStorage),
  key: 'acme/u1',
})

export function useTitle(): void {
  useChanges(sync, { onChanges: ({ changes }) => void (document.title = changes[0]?.key ?? '') })
}

// @ts-expect-error Node's types did not come in with the client
export type Leaked = Buffer
