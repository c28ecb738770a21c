import { createFeed, type Feed } from '@tidemark/core'
import {
  createSyncRouter,
  tidemarkErrorShape,
  unverifiedAuth,
  verifiedAuth,
  type SyncAuth,
  type SyncContext,
} from '@tidemark/api'
import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { createTRPCClient, httpBatchLink } from '@trpc/client'
import { initTRPC } from '@trpc/server'
import { createHTTPHandler } from '@trpc/server/adapters/standalone'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import superjson from 'superjson'

export interface FreightDb {
  shipments: { id: number; company_id: string; updated_at: string }
  notes: { shipment_id: number; n: number; company_id: string }
  cities: { id: number; name: string }
}

const tables = {
  shipments: { tenant: 'company_id', key: 'id' },
  notes: { tenant: 'company_id', key: ['shipment_id', 'n'] },
  cities: { tenant: null, key: 'id' },
} as const

/** A request as it came over the wire. */
export interface WireRequest {
  readonly url: string
  readonly headers: IncomingMessage['headers']
}

function routerOf(feed: Feed<FreightDb, typeof tables>) {
  const t = initTRPC.context<SyncContext>().create({ transformer: superjson, errorFormatter: tidemarkErrorShape })
  return t.router({ sync: createSyncRouter(t, { feed }) })
}

/** A real feed in a database of its own, behind a real tRPC server; the `authorization` header names the company. */
export async function freight() {
  const database = await createTestDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max: 5 })
  pool.on('error', () => {})
  const db = new Kysely<FreightDb>({ dialect: new PostgresDialect({ pool }) })
  const ddl = [
    `create table shipments (id int primary key, company_id text not null, updated_at timestamptz not null)`,
    `create table notes (shipment_id int, n int, company_id text not null, primary key (shipment_id, n))`,
    `create table cities (id int primary key, name text not null)`,
  ]
  for (const statement of ddl) await sql.raw(statement).execute(db)
  const feed = createFeed({ db, tables })
  await feed.migrate()

  const requests: WireRequest[] = []
  const handler = createHTTPHandler({
    router: routerOf(feed),
    onError: () => {},
    createContext: ({ req }): { auth: SyncAuth } => ({
      auth:
        req.headers.authorization === undefined
          ? unverifiedAuth('missing')
          : verifiedAuth({ tenant: req.headers.authorization }),
    }),
  })
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers })
    handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    db,
    requests,
    /** The app's client, signed in as whatever company `company` says at the time of each request. */
    client: (company: () => string | null) =>
      createTRPCClient<ReturnType<typeof routerOf>>({
        links: [
          httpBatchLink({
            url,
            transformer: superjson,
            headers: () => {
              const authorization = company()
              return authorization === null ? {} : { authorization }
            },
          }),
        ],
      }),
    /** The inputs of the `changes` calls so far, decoded. */
    inputs: () => requests.map((request) => decode(request.url)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await db.destroy()
      await database.drop()
    },
  }
}

function decode(url: string): { since: string } {
  const input = new URL(url, 'http://server').searchParams.get('input') ?? ''
  return superjson.deserialize(JSON.parse(input)['0'])
}
