export { createSyncClient } from './create-sync-client.ts'
export type {
  ChangesEvent,
  ResyncEvent,
  SyncClient,
  SyncClientOptions,
  SyncBranch,
  TableNameOf,
} from './sync-client.ts'
export type { ResyncReason } from './answer.ts'
export type { SyncSnapshot, SyncStatus } from './sync-snapshot.ts'

export { memoryStore } from './store/cursor-store.ts'
export type { CursorStore } from './store/cursor-store.ts'
export { webStorageStore } from './store/web-storage-store.ts'
export type { WebStorageLike, WebStorageStoreOptions } from './store/web-storage-store.ts'

export { defaultEnvironment } from './environment.ts'
export type { SyncEnvironment } from './environment.ts'

export { SyncClientError } from './errors.ts'
export type { SyncClientErrorCode, SyncClientErrorOptions } from './errors.ts'

export type {
  ChangesInput,
  ChangesOutput,
  SyncErrorCode,
  WireChange,
  WireOperation,
  WireResyncReason,
} from './protocol.ts'
