import { expect, test } from 'vitest'
import { createTRPCClient, httpBatchLink } from '@trpc/client'
import superjson from 'superjson'
import { superjsonApp } from '../support/apps.ts'
import { connect, createFreight, freightFeed, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { listen, send } from '../support/http.ts'
import type { TestServer } from '../support/http.ts'
import { bearer } from '../support/tokens.ts'

/** One API server with nothing in common with the next but the database. */
async function startServer(freight: Freight): Promise<TestServer & { stop(): Promise<void> }> {
  const { db } = connect(freight.url, 2)
  const { app } = superjsonApp({ feed: freightFeed(db) })
  const server = await listen(app)
  const stop = async () => {
    await server.close()
    await db.destroy()
  }
  return { ...server, stop, [Symbol.asyncDispose]: stop }
}

test('B79 a chain of cursors goes on over any server: 100 changes, none missing or repeated, no restart, no resync', async () => {
  await using freight = await createFreight()
  await using first = await startServer(freight)
  await using second = await startServer(freight)
  const running = [first, second]
  const served = new Map<string, number>()
  let turn = 0
  await using balancer = await listen(async (req, res) => {
    const target = running[turn++ % running.length]!
    served.set(target.url, (served.get(target.url) ?? 0) + 1)
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const answer = await send(target.url, {
      method: req.method!,
      target: req.url!,
      headers: req.headers,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    res.writeHead(answer.status, { 'content-type': answer.headers['content-type'] }).end(answer.text)
  })

  const { router } = superjsonApp({ feed: freight.feed })
  const client = createTRPCClient<typeof router>({
    links: [httpBatchLink({ url: `${balancer.url}/trpc`, headers: await bearer('acme'), transformer: superjson })],
  })
  const head = await client.sync.changes.query({ since: 'now' })
  if (!('changes' in head)) throw new Error('no page')

  // Stragglers too: the first twenty commit behind rows that are read before them.
  const late = await freight.pool.connect()
  await using _release = { [Symbol.asyncDispose]: async () => late.release(true) }
  await late.query('begin')
  const lateRows = (
    await late.query(
      "insert into shipments (company_id, title) select 'acme', n::text from generate_series(1, 20) n returning id",
    )
  ).rows
  const written = lateRows.map(({ id }: { id: number }) => String(id))
  written.push(...(await ship(freight.db, 'acme', 40)).map(String))
  await ship(freight.db, 'globex', 50)

  const read: string[] = []
  let since = head.cursor
  let more = true
  let pages = 0
  const readPage = async () => {
    if (++pages > 60) throw new Error(`no end after ${read.length} changes at ${since}`)
    const page = await client.sync.changes.query({ since, limit: 7 })
    if (!('changes' in page)) throw new Error(`not a page: ${JSON.stringify(page)}`)
    read.push(...page.changes.map(({ key }) => key!))
    since = page.cursor
    more = page.hasMore
  }
  for (let i = 0; i < 4; i++) await readPage()
  await late.query('commit')
  for (let i = 0; i < 3; i++) await readPage()
  expect([...served.values()]).toEqual([4, 4])

  await first.stop()
  running.shift()
  written.push(...(await ship(freight.db, 'acme', 40)).map(String))
  do await readPage()
  while (more)

  expect(read).toHaveLength(100)
  expect([...read].sort()).toEqual([...written].sort())
})
