import type { SyncLimits } from './protocol.ts'

/** The bounds on inputs of `changes` and `notify`, for clients and hosts that want to check before they send. */
export const syncLimits: SyncLimits = Object.freeze({
  cursorLength: 65536,
  tables: 200,
  nameLength: 256,
  pageChanges: 5000,
  defaultPageChanges: 500,
  notifyEntries: 100,
  notifyKeys: 10000,
  keyLength: 4096,
  scopes: 16,
  scopeLength: 4096,
  reasonLength: 200,
})
