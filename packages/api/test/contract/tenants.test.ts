import { globalOnly, readChanges, tenant } from '@tidemark/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainApp, superjsonApp } from '../support/apps.ts'
import { createFreight, ship } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { listen, post } from '../support/http.ts'
import type { Answer, TestServer } from '../support/http.ts'
import { bearer, claims, nowSeconds, sign } from '../support/tokens.ts'
import { sentData } from '../support/wire.ts'

/**
 * The contract: whatever a caller sends (another tenant's token, cursor, keys), it learns nothing of another tenant,
 * not by a differing error text either. Every procedure has its cases here; a new one fails the first test until it
 * has.
 */
const covered = ['sync.changes', 'sync.notify']

// Names that occur nowhere else, so that finding one in an answer proves a leak.
const VICTIM = 'victim-corp'
const ATTACKER = 'attacker-corp'
const PERMISSIONS = ['tidemark:notify']

let freight: Freight
let servers: Record<'plain' | 'superjson', TestServer>
let victimKeys: string[]
let attackerKeys: string[]

beforeAll(async () => {
  freight = await createFreight()
  servers = {
    plain: await listen(plainApp({ feed: freight.feed, isDev: true }).app),
    superjson: await listen(superjsonApp({ feed: freight.feed, isDev: true }).app),
  }
  // Far-off keys: one of the victim's is not by chance one of the attacker's.
  await freight.pool.query('alter table shipments alter column id restart with 700001')
  victimKeys = (await ship(freight.db, VICTIM, 20)).map(String)
  await freight.db.insertInto('legs').values({ shipment_id: 700001, n: 1, company_id: VICTIM }).execute()
  await freight.pool.query('alter table shipments alter column id restart with 1')
  attackerKeys = (await ship(freight.db, ATTACKER, 5)).map(String)
  await freight.db.insertInto('cities').values({ code: 'TKU', name: 'Turku' }).execute()
})
afterAll(async () => {
  await servers?.plain.close()
  await servers?.superjson.close()
  await freight?.[Symbol.asyncDispose]()
})

async function call(
  kind: 'plain' | 'superjson',
  procedure: 'changes' | 'notify',
  input: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  return post(`${servers[kind].url}/trpc/sync.${procedure}`, kind === 'plain' ? input : { json: input }, headers)
}

/** The answer's text with what differs from call to call (cursors, tokens) blanked. */
function blanked(answer: Answer): string {
  return `${answer.status} ${answer.text.replace(/"(cursor|from|token)":"[^"]*"/g, '"$1":"…"')}`
}

function expectNothingOf(victim: string, answer: Answer): void {
  expect(answer.text).not.toContain(victim)
  for (const key of victimKeys) expect(answer.text).not.toContain(key)
  expect(answer.text).not.toContain('700001')
}

test('every procedure is covered', () => {
  const { procedures } = plainApp({ feed: freight.feed }).router._def as unknown as { procedures: object }
  expect(Object.keys(procedures).sort()).toEqual(covered)
})

/** Cursors of several owners and states. */
async function cursorsOf(owner: string | null): Promise<Record<string, string>> {
  const audience = owner === null ? globalOnly : tenant(owner)
  const cursors: Record<string, string> = {}
  const page = async (request: { since: string; limit?: number }) => {
    const answer = await readChanges(freight.feed, audience, request)
    if (!('changes' in answer)) throw new Error('no page')
    return answer.cursor
  }
  cursors['the head'] = await page({ since: 'now' })
  cursors['the end'] = await page({ since: 'start' })
  cursors['the middle'] = await page({ since: 'start', limit: 1 })
  // A cursor in the midst of stragglers: an older transaction commits behind it.
  const straggler = await freight.pool.connect()
  await straggler.query('begin')
  await straggler.query('insert into shipments (company_id, title) select $1, n::text from generate_series(1, 3) n', [
    owner ?? ATTACKER,
  ])
  await ship(freight.db, owner ?? ATTACKER, 1)
  const before = await page({ since: 'now' })
  await straggler.query('commit')
  straggler.release()
  cursors['stragglers'] = owner === null ? before : await page({ since: before, limit: 1 })
  return cursors
}

describe.each(['plain', 'superjson'] as const)('changes (%s)', (kind) => {
  test("shows own and global rows from 'start', and nothing of another tenant", async () => {
    const answer = await call(kind, 'changes', { since: 'start', limit: 5000 }, await bearer(ATTACKER))
    const keys = sentData(answer).changes.map(({ key }) => key)
    expect(keys).toEqual(expect.arrayContaining([...attackerKeys, 'TKU']))
    expectNothingOf(VICTIM, answer)
  })

  test("another tenant's cursor is answered like a cursor of a tenant that does not exist", async () => {
    const headers = await bearer(ATTACKER)
    const [victims, nobodys, globals] = [
      await cursorsOf(VICTIM),
      await cursorsOf('nobody-at-all'),
      await cursorsOf(null),
    ]
    for (const state of Object.keys(victims)) {
      for (const tables of [undefined, ['shipments'], ['cities']]) {
        const answers = await Promise.all(
          [victims, nobodys, globals].map((cursors) =>
            call(kind, 'changes', { since: cursors[state], tables }, headers),
          ),
        )
        const [first, ...others] = answers.map(blanked)
        for (const other of others) expect(other).toBe(first)
        expect(sentData(answers[0]!)).toEqual({ resync: { reason: 'audience', from: expect.any(String) } })
        // The way on that is offered leads into the caller's own feed.
        const page = await call(kind, 'changes', { since: sentData(answers[0]!).resync.from }, headers)
        expect(page.status).toBe(200)
        expectNothingOf(VICTIM, page)
      }
    }
  })

  test("a cursor forged from another tenant's position and the own audience shows own rows only", async () => {
    const headers = await bearer(ATTACKER)
    const own = Buffer.from((await cursorsOf(ATTACKER))['the head']!, 'base64url')
    for (const [state, text] of Object.entries(await cursorsOf(VICTIM))) {
      const forged = Buffer.from(text, 'base64url')
      // Format, epoch and audience are the first eleven bytes.
      own.copy(forged, 0, 0, 11)
      const answer = await call(kind, 'changes', { since: forged.toString('base64url') }, headers)
      expect(answer.status, state).toBe(200)
      expectNothingOf(VICTIM, answer)
    }
  })

  test('the order and number of fields do not tell whose writes there were', async () => {
    const headers = await bearer(ATTACKER)
    const head = sentData(await call(kind, 'changes', { since: 'now' }, headers)).cursor
    const before = await call(kind, 'changes', { since: head }, headers)
    await ship(freight.db, VICTIM, 100)
    const after = await call(kind, 'changes', { since: head }, headers)
    expect(blanked(after)).toBe(blanked(before))
  })

  test('tables that exist, exist undeclared, and do not exist are refused alike', async () => {
    const headers = await bearer(ATTACKER)
    const answers = await Promise.all(
      [
        'wages',
        'no_such_table',
        'pg_class',
        'tidemark.log',
        'public.shipments',
        'SHIPMENTS',
        '__proto__',
        'toString',
      ].map((table) => call(kind, 'changes', { since: 'now', tables: [table] }, headers)),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]!.status).toBe(400)
  })

  test.each([
    ['a header', { 'x-tenant': VICTIM, 'x-tenant-id': VICTIM, cookie: `tenant=${VICTIM}` }, ''],
    ['the URL', {}, `?tenant=${VICTIM}&org_id=${VICTIM}`],
  ])('a tenant named in %s changes nothing', async (_, extra, query) => {
    const headers = { ...(await bearer(ATTACKER)), ...extra } as Record<string, string>
    const input = { since: 'start', limit: 5000 }
    const answer = await post(
      `${servers[kind].url}/trpc/sync.changes${query}`,
      kind === 'plain' ? input : { json: input },
      headers,
    )
    expect(answer.status).toBe(200)
    expectNothingOf(VICTIM, answer)
  })

  test.each([`${VICTIM} `, ` ${VICTIM}`, VICTIM.toUpperCase(), `${VICTIM}%`, '%', '*', `' or true --`, `${VICTIM}\n`])(
    'a token for the tenant %j sees nothing of the tenant of nearly that name',
    async (name) => {
      const answer = await call(
        kind,
        'changes',
        { since: 'start', limit: 5000, tables: ['shipments', 'legs'] },
        await bearer(name),
      )
      // The installation of capture announced the tables as a whole, to everyone.
      const rows = sentData(answer).changes.filter(({ operation }) => operation !== 'invalidate')
      expect(rows).toEqual([])
      expect(sentData(answer).upToDate).toBe(true)
    },
  )

  test("the victim's token, spoilt in any way, is refused as any other", async () => {
    const good = (await bearer(VICTIM)).authorization
    const [header, payload, signature] = good.slice('Bearer '.length).split('.')
    const mine = (await bearer(ATTACKER)).authorization.slice('Bearer '.length).split('.')
    const spoilt = [
      `Bearer ${header}.${payload}.${mine[2]}`,
      `Bearer ${header}.${payload}.`,
      `Bearer ${header}.${payload}.${signature!.slice(0, -2)}`,
      `Bearer ${await sign(claims({ org_id: VICTIM, exp: nowSeconds - 1 }))}`,
      `Bearer ${await sign(claims({ org_id: VICTIM, aud: 'other' }))}`,
      `Bearer ${await sign(claims({ org_id: 'nobody-at-all', aud: 'other' }))}`,
      'Bearer x',
    ]
    const answers = await Promise.all(
      spoilt.map((authorization) => call(kind, 'changes', { since: 'start' }, { authorization })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]!.status).toBe(401)
  })
})

describe.each(['plain', 'superjson'] as const)('notify (%s)', (kind) => {
  test("keys of another tenant's rows, of own rows and of none are answered alike, and stay in the own feed", async () => {
    const headers = await bearer(ATTACKER, PERMISSIONS)
    const before = await readChanges(freight.feed, tenant(VICTIM), { since: 'now' })
    if (!('changes' in before)) throw new Error('no page')
    const answers = await Promise.all(
      [victimKeys[0], attackerKeys[0], '999999'].map((key) =>
        call(
          kind,
          'notify',
          {
            entries: [
              { table: 'shipments', keys: [key] },
              { table: 'legs', keys: [`["${key}","1"]`] },
            ],
          },
          headers,
        ),
      ),
    )
    expect(answers[0]!.status).toBe(200)
    expect(new Set(answers.map(blanked)).size).toBe(1)
    await call(kind, 'notify', { entries: [{ table: 'shipments' }, { table: 'legs' }] }, headers)
    expect(await readChanges(freight.feed, tenant(VICTIM), { since: before.cursor })).toMatchObject({
      changes: [],
      upToDate: true,
    })
  })

  test("bad keys near another tenant's are refused as bad keys near none", async () => {
    const headers = await bearer(ATTACKER, PERMISSIONS)
    for (const spoil of [(key: string) => `${key}x`, (key: string) => `${key}.5`, (key: string) => `["${key}"]`]) {
      const answers = await Promise.all(
        [victimKeys[0]!, attackerKeys[0]!, '999999'].map((key) =>
          call(kind, 'notify', { entries: [{ table: 'shipments', keys: [spoil(key)] }] }, headers),
        ),
      )
      expect(answers[0]!.status).toBe(400)
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    }
  })

  test('without the permission everything is refused alike', async () => {
    const headers = await bearer(ATTACKER)
    const answers = await Promise.all(
      [victimKeys[0], attackerKeys[0], '999999', 'x'].flatMap((key) =>
        ['shipments', 'cities', 'wages', 'no_such_table'].map((table) =>
          call(kind, 'notify', { entries: [{ table, keys: [key] }] }, headers),
        ),
      ),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]!.status).toBe(403)
  })

  test.each(['tenant', 'org_id', 'company_id', 'audience', 'actor'])(
    'there is no way to name a tenant by "%s"',
    async (field) => {
      const headers = await bearer(ATTACKER, [...PERMISSIONS, 'tidemark:notify-global'])
      const before = await readChanges(freight.feed, tenant(VICTIM), { since: 'now' })
      if (!('changes' in before)) throw new Error('no page')
      const entry = { table: 'shipments', keys: ['1'] }
      for (const input of [
        { entries: [entry], [field]: VICTIM },
        { entries: [{ ...entry, [field]: VICTIM }] },
        { entries: [{ ...entry, scopes: { [field]: VICTIM } }] },
      ]) {
        expect((await call(kind, 'notify', input, headers)).status).toBe(400)
      }
      expect(await readChanges(freight.feed, tenant(VICTIM), { since: before.cursor })).toMatchObject({ changes: [] })
    },
  )
})
