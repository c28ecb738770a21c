import express from 'express'
import { expect, test } from 'vitest'
import { DemoError } from '../src/server/demo-error.ts'
import { listen } from '../src/server/http/listen.ts'

const app = express().get('/', (_request, response) => {
  response.send('here')
})

test('a port that is taken is passed over when the next will do, and named when it must be that one', async () => {
  const first = await listen(app, '127.0.0.1', { number: 0, orNext: false })
  const second = await listen(app, '127.0.0.1', { number: first.port, orNext: true })
  try {
    expect(second.port).toBeGreaterThan(first.port)
    expect(await (await fetch(`http://127.0.0.1:${second.port}/`)).text()).toBe('here')
    await expect(listen(app, '127.0.0.1', { number: first.port, orNext: false })).rejects.toThrow(
      new DemoError(`Port ${first.port} is taken. Name another one: PORT=3001 (or 0 for any).`),
    )
  } finally {
    await second.close()
    await first.close()
  }
  await expect(fetch(`http://127.0.0.1:${first.port}/`)).rejects.toThrow('fetch failed')
})

test('an address that is not this machine’s is named', async () => {
  await expect(listen(app, '192.0.2.1', { number: 0, orNext: true })).rejects.toThrow(
    /^Cannot listen on 192\.0\.2\.1, port 0: /,
  )
})
