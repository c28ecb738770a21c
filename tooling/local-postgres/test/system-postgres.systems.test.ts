import pg from 'pg'
import { expect, it } from 'vitest'
import { startLocalPostgres } from '../src/index.ts'

it('starts the system’s Postgres 15', async () => {
  await using server = await startLocalPostgres({ version: 15 })
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  await client.end()
  expect(rows[0]?.server_version).toMatch(/^15\./)
  expect(server.major).toBe(15)
})
