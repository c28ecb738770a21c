import type { FeedTable } from '@tidemark/core'
import type { TRPCClient } from '@trpc/client'
import type { TRPCBuiltRouter } from '@trpc/server'
import type { SyncContext, SyncProcedures, SyncRouter } from '@tidemark/api'
import type { Generated } from 'kysely'
import { expectTypeOf } from 'vitest'
import {
  createSyncClient,
  memoryStore,
  webStorageStore,
  type SyncClient,
  type SyncSnapshot,
  type TableNameOf,
} from '../../src/index.ts'
import { useChanges, useSyncStatus, useTableVersion } from '../../src/react/index.ts'
import type { PlainRouter, SuperjsonRouter } from '../support/http-sync.ts'

interface DB {
  shipments: { id: Generated<string>; company_id: string }
  notes: { id: string; company_id: string }
  cities: { id: number }
  wages: { id: number }
}
interface Tables {
  readonly shipments: { readonly tenant: 'company_id'; readonly key: 'id' }
  readonly notes: { readonly tenant: 'company_id'; readonly key: 'id' }
  readonly cities: { readonly tenant: null; readonly key: 'id' }
}
interface Root<Transformer extends boolean> {
  ctx: SyncContext
  meta: { audit: boolean }
  errorShape: { message: string; code: number; data: { own: true } }
  transformer: Transformer
}
type RealRouter<Transformer extends boolean> = TRPCBuiltRouter<
  Root<Transformer>,
  { deep: { sync: SyncProcedures<Root<Transformer>, FeedTable<DB, Tables>> } }
>

declare const real: TRPCClient<RealRouter<true>>
declare const realPlain: TRPCClient<RealRouter<false>>
declare const superjson: TRPCClient<SuperjsonRouter>
declare const plain: TRPCClient<PlainRouter>

// Names come from the router, whatever its transformer, meta and error shape.
expectTypeOf<TableNameOf<typeof real.deep.sync>>().toEqualTypeOf<'shipments' | 'notes' | 'cities'>()
expectTypeOf<TableNameOf<typeof realPlain.deep.sync>>().toEqualTypeOf<'shipments' | 'notes' | 'cities'>()
expectTypeOf<TableNameOf<typeof superjson.sync>>().toEqualTypeOf<'shipments' | 'notes'>()
expectTypeOf<TableNameOf<typeof plain.sync>>().toEqualTypeOf<'shipments' | 'notes'>()

// The client follows exactly the tables named; without names, all of the router.
const some = createSyncClient({ trpc: real.deep.sync, tables: ['shipments', 'notes'] })
expectTypeOf(some).toEqualTypeOf<SyncClient<'shipments' | 'notes'>>()
expectTypeOf(createSyncClient({ trpc: realPlain.deep.sync, tables: ['cities'] })).toEqualTypeOf<SyncClient<'cities'>>()
expectTypeOf(createSyncClient({ trpc: real.deep.sync })).toEqualTypeOf<SyncClient<'shipments' | 'notes' | 'cities'>>()
expectTypeOf(createSyncClient({ trpc: plain.sync, tables: undefined })).toEqualTypeOf<
  SyncClient<'shipments' | 'notes'>
>()

// @ts-expect-error not a table of the router
createSyncClient({ trpc: real.deep.sync, tables: ['shipment'] })
// @ts-expect-error in the database, but not declared to the feed
createSyncClient({ trpc: real.deep.sync, tables: ['wages'] })
// @ts-expect-error not a sync router
createSyncClient({ trpc: superjson.ping })
// @ts-expect-error the app's client, not the branch
createSyncClient({ trpc: superjson })

// A store needs to know whose cursor it keeps.
createSyncClient({ trpc: plain.sync, store: memoryStore(), key: 'acme/u1' })
createSyncClient({ trpc: plain.sync, store: webStorageStore(() => localStorage), key: 'acme/u1' })
// @ts-expect-error no key
createSyncClient({ trpc: plain.sync, store: memoryStore() })

// Listeners get the tables followed.
some.onChanges(({ changes }) => {
  const change = changes[0]
  if (change === undefined) return
  expectTypeOf(change.table).toEqualTypeOf<'shipments' | 'notes'>()
  expectTypeOf(change.key).toEqualTypeOf<string | null>()
  expectTypeOf(change.operation).toEqualTypeOf<'create' | 'update' | 'delete' | 'invalidate'>()
})
some.version('notes')
// @ts-expect-error not followed by this client
some.version('cities')
some.onResync(({ reason }) => {
  expectTypeOf(reason).toEqualTypeOf<
    'pruned' | 'epoch' | 'ahead' | 'audience' | 'format' | 'scope' | 'key' | 'table' | 'start'
  >()
})

// `status` alone decides the shape of a snapshot.
function describe(snapshot: SyncSnapshot): string {
  if (snapshot.status === 'retrying' || snapshot.status === 'failed') return snapshot.error.code
  expectTypeOf(snapshot.error).toEqualTypeOf<null>()
  // @ts-expect-error only a paused client has a reason
  if (snapshot.status === 'idle') return snapshot.reason
  return snapshot.status === 'paused' ? snapshot.reason : snapshot.status
}
describe(some.getSnapshot())

export function Component(): null {
  expectTypeOf(useSyncStatus(some)).toEqualTypeOf<SyncSnapshot>()
  expectTypeOf(useTableVersion(some, 'notes')).toEqualTypeOf<number>()
  useTableVersion(some, ['notes', 'shipments'])
  // @ts-expect-error not followed by this client
  useTableVersion(some, 'cities')
  // @ts-expect-error not followed by this client
  useTableVersion(some, ['notes', 'cities'])

  useChanges(some, {
    tables: ['notes'],
    onChanges: ({ changes }) => expectTypeOf(changes).items.toHaveProperty('table').toEqualTypeOf<'notes'>(),
  })
  useChanges(some, {
    onChanges: ({ changes }) =>
      expectTypeOf(changes).items.toHaveProperty('table').toEqualTypeOf<'notes' | 'shipments'>(),
  })
  // @ts-expect-error not followed by this client
  useChanges(some, { tables: ['cities'], onChanges: () => {} })
  // @ts-expect-error a callback is what it is for
  useChanges(some, { tables: ['notes'] })
  return null
}

// The router that `createSyncRouter` returns, as the whole router of an app.
declare const direct: TRPCClient<SyncRouter<Root<true>, DB, Tables>>
expectTypeOf(createSyncClient({ trpc: direct, tables: ['notes'] })).toEqualTypeOf<SyncClient<'notes'>>()
