/**
 * The Express 5 mount.
 *
 * @module @tidemark/api/express
 */
export { createSyncExpress } from './express/create-sync-express.ts'
export type { SyncExpressContextOptions, SyncExpressHandlers, SyncExpressOptions } from './express/options.ts'
