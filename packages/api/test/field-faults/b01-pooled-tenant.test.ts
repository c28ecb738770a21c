import express from 'express'
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { connect, createFreight, freightFeed, ship } from '../support/freight.ts'
import { listen } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'

/** Statements that make Postgres itself fail in the midst of a read. */
const faults = ['select 1/0', 'select pg_terminate_backend(pg_backend_pid())']

/** Records every statement and replaces some of the reads by a fault. */
function sabotage(pool: pg.Pool): { readonly statements: string[]; faulty: boolean } {
  const state = { statements: [] as string[], faulty: false }
  let reads = 0
  pool.on('connect', (client) => {
    client.on('error', () => {})
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((text: unknown, ...rest: unknown[]) => {
      const statement = typeof text === 'string' ? text : String((text as { text?: string }).text)
      state.statements.push(statement)
      const isRead = !/^\s*(begin|start|commit|rollback)/i.test(statement)
      if (state.faulty && isRead && ++reads % 12 === 0) return query(faults[(reads / 12) % faults.length])
      return query(text, ...rest)
    }) as typeof client.query
  })
  return state
}

describe.each([
  ['without a transformer', plainApp],
  ['with superjson', superjsonApp],
])('B01 one pooled connection for two tenants, %s', (title, makeApp) => {
  test('200 interleaved calls, a third failing or aborted: no row of the wrong tenant, nothing left on the connection', async () => {
    await using freight = await createFreight()
    const rows = { acme: await ship(freight.db, 'acme', 7), globex: await ship(freight.db, 'globex', 5) }
    const { pool, db } = connect(freight.url, 1)
    const state = sabotage(pool)
    const { app } = makeApp({ feed: freightFeed(db) })

    // Aborts a call the moment it has arrived, so that its read is under way.
    const aborts = new Map<string, AbortController>()
    const outer = express()
    outer.use((req, _res, next) => {
      const controller = aborts.get(String(req.headers['x-call']))
      next()
      controller?.abort()
    })
    outer.use(app)
    await using server = await listen(outer)

    const headers = { acme: await bearer('acme'), globex: await bearer('globex') }
    const input = encodeURIComponent(
      JSON.stringify(title.includes('superjson') ? { json: { since: 'start' } } : { since: 'start' }),
    )
    const outcomes = { right: 0, failed: 0, aborted: 0 }

    const call = async (i: number): Promise<void> => {
      const company = i % 2 === 0 ? 'acme' : 'globex'
      const controller = new AbortController()
      if (i % 6 === 1) aborts.set(String(i), controller)
      let answer: Response
      let text: string
      try {
        answer = await fetch(`${server.url}/trpc/sync.changes?input=${input}`, {
          headers: { ...headers[company], 'x-call': String(i) },
          signal: controller.signal,
        })
        text = await answer.text()
      } catch (error) {
        if (!controller.signal.aborted) throw error
        outcomes.aborted++
        return
      }
      const other = company === 'acme' ? 'globex' : 'acme'
      expect(text).not.toContain(other)
      if (answer.status !== 200) {
        expect(answer.status).toBe(500)
        outcomes.failed++
        return
      }
      const body = JSON.parse(text).result.data
      const { changes } = body.json ?? body
      const keys = changes
        .filter((change: { global: boolean }) => !change.global)
        .map((change: { key: string }) => change.key)
      expect(keys).toEqual(rows[company].map(String))
      outcomes.right++
    }

    // The catalogue is read once per process; a first call keeps it out of the sabotage.
    await call(0)
    state.faulty = true
    await Promise.all(Array.from({ length: 199 }, (_, i) => call(i + 1)))
    state.faulty = false

    expect(outcomes.right + outcomes.failed + outcomes.aborted).toBe(200)
    expect(outcomes.failed).toBeGreaterThan(10)
    expect(outcomes.aborted).toBeGreaterThan(20)
    expect(outcomes.right).toBeGreaterThan(100)

    // Calls whose client has gone may still be at work; the pool serves in turn, so this query comes last.
    expect(await leftovers(pool)).toEqual({
      tenant: null,
      transaction: null,
      changed: [],
      prepared: '0',
      channels: '0',
      locks: '0',
    })
    expect(pool.totalCount).toBe(1)
    // There is no tenant setting to leave behind: the tenant is a parameter of the statement.
    const own = state.statements.filter((statement) => !faults.includes(statement))
    expect(
      own.filter((statement) => /set_config|\bset\s+(session|local|role)\b|company|acme|globex/i.test(statement)),
    ).toEqual([])
    await call(0)
    await db.destroy()
  })
})

async function leftovers(pool: pg.Pool): Promise<unknown> {
  const { rows } = await pool.query(`
    select coalesce(current_setting('tidemark.tenant', true), current_setting('app.tenant_id', true), current_setting('app.tenant', true)) as tenant,
      pg_current_xact_id_if_assigned()::text as transaction,
      array(select name from pg_settings where source = 'session' and name not in ('application_name', 'client_encoding')) as changed,
      (select count(*) from pg_prepared_statements) as prepared,
      (select count(*) from pg_listening_channels()) as channels,
      (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks`)
  return rows[0]
}
