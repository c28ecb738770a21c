import { generateKeyPairSync } from 'node:crypto'
import { createRemoteJWKSet } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plainApp } from '../support/apps.ts'
import { createFreight } from '../support/freight.ts'
import type { Freight } from '../support/freight.ts'
import { get, listen } from '../support/http.ts'
import { claims, nowSeconds, sign, testAuth } from '../support/tokens.ts'

let freight: Freight
beforeAll(async () => {
  freight = await createFreight()
})
afterAll(() => freight?.[Symbol.asyncDispose]())

test('B44 while the key server is down a good token is 503, never 401; garbage stays 401', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }] })
  let phase: 'fails' | 'hangs' | 'serves garbage' | 'is gone' | 'works' = 'fails'
  await using keyServer = await listen((_req, res) => {
    if (phase === 'fails') res.writeHead(500).end('oops')
    else if (phase === 'serves garbage') res.writeHead(200).end('<html>')
    else if (phase === 'is gone') res.destroy()
    else if (phase === 'works') res.writeHead(200).end(jwks)
  })
  const key = createRemoteJWKSet(new URL(`${keyServer.url}/jwks`), { timeoutDuration: 100, cooldownDuration: 0 })
  const seen: unknown[] = []
  await using server = await listen(
    plainApp({
      feed: freight.feed,
      auth: testAuth({ key, algorithms: ['RS256'] }),
      onError: ({ error }) => void seen.push(error),
    }).app,
  )
  const header = { alg: 'RS256', kid: 'k1' }
  const tokens = {
    good: await sign(claims(), privateKey, header),
    expired: await sign(claims({ exp: nowSeconds - 1 }), privateKey, header),
    unknownKey: await sign(claims(), privateKey, { alg: 'RS256', kid: 'k9' }),
    garbage: 'garbage',
    wrongAlgorithm: await sign(claims()),
  }
  const ask = async (token: string) =>
    get(`${server.url}/trpc/sync.changes`, { since: 'now' }, { authorization: `Bearer ${token}` })

  for (phase of ['fails', 'hangs', 'serves garbage', 'is gone'] as const) {
    seen.length = 0
    const answer = await ask(tokens.good)
    expect(answer.status, phase).toBe(503)
    expect(answer.json).toMatchObject({
      error: { data: { code: 'SERVICE_UNAVAILABLE', tidemark: { code: 'authUnavailable', retryable: true } } },
    })
    expect(answer.text).not.toMatch(/jose|jwks|JSON Web|127\.0\.0\.1|fetch/i)
    expect((seen[0] as Error).message).toBe('not verified: unavailable')
    expect((await ask(tokens.expired)).status, phase).toBe(401)
    expect((await ask(tokens.garbage)).status, phase).toBe(401)
    expect((await ask(tokens.wrongAlgorithm)).status, phase).toBe(401)
  }

  phase = 'works'
  expect((await ask(tokens.good)).status).toBe(200)
  for (const token of [tokens.expired, tokens.unknownKey, tokens.garbage, tokens.wrongAlgorithm])
    expect((await ask(token)).status).toBe(401)

  // Keys once had are kept: a new outage is not noticed.
  phase = 'fails'
  expect((await ask(tokens.good)).status).toBe(200)
})
