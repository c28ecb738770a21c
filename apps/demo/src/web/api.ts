import { createSyncClient, type SyncClient } from '@tidemark/client'
import { createTRPCClient, httpBatchLink, type TRPCClient } from '@trpc/client'
import superjson from 'superjson'
import type { AppRouter } from '../server/routers/app-router.ts'
import type { Session } from './session/session.ts'

/** Tables of the feed that the page follows. */
export type Table = 'cities' | 'shipments' | 'notes'

/** The server, as one signed-in company sees it. */
export interface Api {
  readonly trpc: TRPCClient<AppRouter>
  readonly sync: SyncClient<Table>
}

/** Makes the clients of one sign-in. Nothing is asked before a hook or a component does. */
export function createApi(session: Session): Api {
  const trpc = createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${session.origin}/trpc`,
        transformer: superjson,
        // Reads by POST too: a long list of tables or a long cursor never meets a limit on URLs.
        methodOverride: 'POST',
        fetch: (url, init) => session.fetch(url, init as RequestInit),
      }),
    ],
  })
  return {
    trpc,
    sync: createSyncClient({ trpc: trpc.sync, tables: ['cities', 'shipments', 'notes'], intervalMs: 1_000 }),
  }
}
