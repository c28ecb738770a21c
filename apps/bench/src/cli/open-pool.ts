import type { PostgresPool } from 'kysely'
import pg from 'pg'
import { progress } from './output.ts'

/**
 * A pool that survives connections that break, and says so. Once `end()` has resolved, its sessions are gone from the server, so that the database can be
 * dropped.
 */
export function openPool(config: pg.PoolConfig): PostgresPool {
  const pool = new pg.Pool(config)
  const closing = new Map<pg.PoolClient, Promise<void>>()
  pool.on('error', (error) => progress(`a database connection broke: ${error.message}`))
  pool.on('connect', (client) => {
    // The pool does not listen while a client is lent; its next query fails, which is enough.
    client.on('error', () => {})
    closing.set(
      client,
      new Promise((resolve) =>
        client.once('end', () => {
          closing.delete(client)
          resolve()
        }),
      ),
    )
  })
  return {
    connect: () => pool.connect(),
    // The pool's own `end` only asks the connections to close.
    end: async () => {
      await pool.end()
      await Promise.all(closing.values())
    },
  }
}
