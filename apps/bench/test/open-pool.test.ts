import { createTestDatabase } from '@tidemark/local-postgres/testing'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { openPool } from '../src/cli/open-pool.ts'

async function ask(text: string, values: unknown[]): Promise<number | null> {
  const client = new pg.Client({ connectionString: inject('pgUrl') })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rowCount
  } finally {
    await client.end()
  }
}

const sessions = (database: string): Promise<number | null> =>
  ask('select from pg_stat_activity where datname = $1', [database])

test('once a pool has ended, none of its sessions is left on the server', async () => {
  await using database = await createTestDatabase()
  const pool = openPool({ connectionString: database.url, max: 10 })
  const clients = await Promise.all(Array.from({ length: 10 }, () => pool.connect()))
  let closed = 0
  for (const client of clients) {
    ;(client as unknown as pg.Client).once('end', () => (closed += 1))
    client.release()
  }
  expect(await sessions(database.name)).toBe(10)
  await pool.end()
  expect(closed).toBe(10)
  expect(await sessions(database.name)).toBe(0)
})

test('sessions that the server ends, idle and lent, do not end the process, and the pool goes on', async () => {
  await using database = await createTestDatabase()
  const pool = openPool({ connectionString: database.url, max: 2 })
  const [lent, idle] = [await pool.connect(), await pool.connect()]
  const ended = [lent, idle].map(
    (client) => new Promise<void>((resolve) => (client as unknown as pg.Client).once('end', resolve)),
  )
  idle.release()
  await ask('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database.name])
  await Promise.all(ended)
  await expect(lent.query('select 1', [])).rejects.toThrow('not queryable')
  lent.release()
  const next = await pool.connect()
  expect((await next.query('select 1 as one', [])).rows).toEqual([{ one: 1 }])
  next.release()
  await pool.end()
})
