import { createTestDatabase, type TestDatabase } from '@tidemark/local-postgres/testing'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCESS_SECONDS, REFRESH_SECONDS } from '../src/server/auth/tokens.ts'
import type { Demo } from '../src/server/start-demo.ts'
import type { SignInAnswer } from '../src/shared/session.ts'
import { createApi } from '../src/web/api.ts'
import { Session, SessionEndedError, signIn } from '../src/web/session/session.ts'
import { startTestDemo } from './support/demo.ts'
import { openListeningProxy } from './support/listening-proxy.ts'

const secret = new TextEncoder().encode('a secret of the test, long enough for HS256')
let database: TestDatabase
let demo: Demo
/** The server's clock. */
let clock = new Date('2030-01-01T12:00:00Z')

beforeAll(async () => {
  database = await createTestDatabase()
  demo = await startTestDemo(database.url, { secret, now: () => clock })
})
afterAll(async () => {
  await demo.stop()
  await database.drop()
})

function post(path: string, body: string): Promise<Response> {
  return fetch(demo.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function tokensOf(company: string): Promise<SignInAnswer> {
  return (await (await post('/session', JSON.stringify({ company }))).json()) as SignInAnswer
}

/** Status of a call with this token. */
async function statusWith(token: string | null): Promise<number> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  return (await fetch(`${demo.url}/trpc/about`, { headers })).status
}

test('a token opens the procedures; none, a refresh token and a token of somebody else do not', async () => {
  const { accessToken, refreshToken, expiresInSeconds } = await tokensOf('altiplano')
  expect(expiresInSeconds).toBe(ACCESS_SECONDS)
  const forged = new SignJWT({ company: 'altiplano' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('tidemark-demo')
    .setAudience('tidemark-demo/trpc')
    .setExpirationTime(Math.floor(clock.getTime() / 1000) + 60)
  expect(await statusWith(accessToken)).toBe(200)
  expect(await statusWith(await forged.sign(secret))).toBe(200)
  expect(await statusWith(await forged.sign(new Uint8Array(32)))).toBe(401)
  expect(await statusWith(refreshToken)).toBe(401)
  expect(await statusWith(null)).toBe(401)
  const asRefresh = await post('/session/refresh', JSON.stringify({ refreshToken: accessToken }))
  expect(asRefresh.status).toBe(401)
})

test('an access token ends soon; the session gets the next one by itself, once for all requests that wait', async () => {
  await using proxy = await openListeningProxy(demo.url)
  const renewals = (): number => proxy.heard.filter(({ path }) => path === '/session/refresh').length
  const session = await signIn('harbour-dale', { origin: proxy.url, onEnded: () => {} })
  const { trpc } = createApi(session)
  await trpc.about.query()
  await trpc.about.query()
  expect(renewals()).toBe(0)

  // The device's clock stands still meanwhile: it thinks the token is good, and the server refuses it.
  clock = new Date(clock.getTime() + (ACCESS_SECONDS + 60) * 1000)
  const answers = await Promise.all([
    trpc.shipments.list.query({}),
    ...[1, 2, 3].map(async () => (await session.fetch(`${proxy.url}/trpc/about`)).status),
  ])
  expect(answers[0]).toMatchObject({ counts: { booked: 2 } })
  expect(answers.slice(1)).toEqual([200, 200, 200])
  expect(renewals()).toBe(1)
  expect(new Set(proxy.heard.map(({ authorization }) => authorization).filter((sent) => sent !== undefined)).size).toBe(
    2,
  )
})

test('a sign-in ends after its time: the page is told, and nothing more is read', async () => {
  let ended = 0
  const session = await signIn('harbour-dale', { origin: demo.url, onEnded: () => (ended += 1) })
  clock = new Date(clock.getTime() + (REFRESH_SECONDS + 60) * 1000)
  await expect(session.fetch(`${demo.url}/trpc/about`)).rejects.toBeInstanceOf(SessionEndedError)
  expect(ended).toBe(1)
})

test('a reload goes on with the refresh token alone; a server that does not know it ends the session', async () => {
  const { refreshToken } = await tokensOf('altiplano')
  const reloaded = new Session({ company: 'altiplano', refreshToken }, { origin: demo.url, onEnded: () => {} })
  expect((await reloaded.fetch(`${demo.url}/trpc/about`)).status).toBe(200)

  let ended = 0
  const unknown = new Session(
    { company: 'altiplano', refreshToken: 'nonsense' },
    { origin: demo.url, onEnded: () => (ended += 1) },
  )
  await expect(unknown.fetch(`${demo.url}/trpc/about`)).rejects.toBeInstanceOf(SessionEndedError)
  expect(ended).toBe(1)
})

test('what cannot be read or allowed is refused without a word of the server’s inside', async () => {
  const cases = [
    ['/session', '{"company":"somebody-else"}', 400, '"company" must be one of: harbour-dale, altiplano'],
    [
      '/session',
      '{"company":"altiplano","tenant":"harbour-dale"}',
      400,
      '"company" must be one of: harbour-dale, altiplano',
    ],
    ['/session', '[', 400, 'the request cannot be read'],
    ['/session', JSON.stringify({ company: 'x'.repeat(20_000) }), 413, 'the request cannot be read'],
    ['/session/refresh', '{}', 400, '"refreshToken" must be the token that POST /session gave'],
    ['/nothing', '{}', 404, 'there is nothing here'],
  ] as const
  for (const [path, body, status, error] of cases) {
    const response = await post(path, body)
    expect([response.status, await response.json()]).toEqual([status, { error }])
  }
})

test('answers that hold tokens or rows are not to be stored, and tell nothing of the software', async () => {
  const response = await post('/session', '{"company":"altiplano"}')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-powered-by')).toBeNull()
  const refused = await fetch(`${demo.url}/trpc/shipments.list?input=%7B%22json%22%3A%7B%7D%7D`)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(await refused.text()).not.toContain('.ts')
})
