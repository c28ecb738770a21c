import { createSyncClient, memoryStore } from '@tidemark/client'
import { useSyncStatus, useTableVersion } from '@tidemark/client/react'
import { createTRPCClient, httpBatchLink, TRPCClientError } from '@trpc/client'
import type { ReactNode } from 'react'
import type { AppRouter } from './server.ts'

const trpc = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: '/trpc' })] })

export async function procedures(): Promise<void> {
  const answer = await trpc.sync.changes.query({ since: 'now', tables: ['tasks'] })
  if ('changes' in answer) {
    for (const { table, key, operation } of answer.changes) {
      const declared: 'tasks' | 'comments' | 'currency' = table
      console.log(declared, key?.length, operation === 'delete')
    }
  }
  const { token, tables } = await trpc.sync.notify.mutate({ entries: [{ table: 'comments', keys: ['["1","2"]'] }] })
  console.log(token.length, tables[0] === 'comments')

  // @ts-expect-error the feed declares no such table
  await trpc.sync.changes.query({ since: 'now', tables: ['users'] })
  // @ts-expect-error where to begin is said aloud
  await trpc.sync.changes.query({ tables: ['tasks'] })
}

export async function errors(): Promise<string | undefined> {
  try {
    await procedures()
    return undefined
  } catch (error) {
    if (!isOurs(error)) throw error
    // The app's own field and ours, both typed.
    const requestId: string | null | undefined = error.data?.requestId
    return error.data?.tidemark?.code ?? requestId ?? undefined
  }
}

function isOurs(error: unknown): error is TRPCClientError<AppRouter> {
  return error instanceof TRPCClientError
}

const sync = createSyncClient({ trpc: trpc.sync, tables: ['tasks', 'comments'], store: memoryStore(), key: 'acme/u1' })

// @ts-expect-error the router declares no such table
createSyncClient({ trpc: trpc.sync, tables: ['users'] })
// @ts-expect-error a store must know whose cursor it keeps
createSyncClient({ trpc: trpc.sync, store: memoryStore() })

export function Tasks(): ReactNode {
  const { status } = useSyncStatus(sync)
  const version = useTableVersion(sync, 'tasks')
  // @ts-expect-error this client does not follow that table
  useTableVersion(sync, 'currency')
  return (
    <p>
      {status} {version.toFixed()}
    </p>
  )
}
