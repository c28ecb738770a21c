import { afterEach, expect, it, vi } from 'vitest'
import { createSyncClient } from '../../src/index.ts'
import { FakeEnvironment } from '../support/fake-environment.ts'
import { freight } from '../support/freight.ts'
import { until } from '../support/http-sync.ts'

const DAY = 86_400_000

afterEach(() => void vi.useRealTimers())

// The watermark came from the device's clock, or from a timestamp in the data that lay in the future.
it.each([
  ['ahead', DAY],
  ['behind', -DAY],
])('B23: a device one day %s gets every row, and its clock is in no request', async (_, offset) => {
  await using app = await freight()
  const wrong = new Date(Date.now() + offset)
  vi.useFakeTimers({ now: wrong, toFake: ['Date', 'performance'] })
  const environment = new FakeEnvironment()
  const sync = createSyncClient({ trpc: app.client(() => 'acme').sync, environment, limit: 3 })
  const seen: (string | null)[] = []
  const cursors: (string | null)[] = []
  sync.onChanges(({ changes }) => void seen.push(...changes.map(({ key }) => key)))
  sync.subscribe(() => {
    if (sync.cursor !== cursors.at(-1)) cursors.push(sync.cursor)
  })
  const poll = async (wanted: number): Promise<void> => {
    await environment.advance(2_200)
    await until(sync, ({ status }) => status === 'upToDate' && seen.length === wanted)
  }

  sync.start()
  await until(sync, ({ status }) => status === 'upToDate')
  const write = async (id: number, updatedAt: string): Promise<unknown> =>
    await app.db.insertInto('shipments').values({ id, company_id: 'acme', updated_at: updatedAt }).execute()
  await write(1, '2100-01-01')
  await poll(1)
  await write(2, '1970-01-01')
  for (let id = 3; id <= 9; id += 1) await write(id, '2024-03-10')
  await poll(9)
  await app.db.updateTable('shipments').set({ updated_at: '2100-01-01' }).where('id', '=', 2).execute()
  await poll(10)
  sync.stop()

  expect(seen).toStrictEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '2'])
  // Every cursor that was sent is one that the server gave, to the character.
  const sent = app.inputs().map(({ since }) => since)
  expect(sent[0]).toBe('now')
  expect(sent.length).toBeGreaterThanOrEqual(6)
  expect(cursors).toContain(sent.at(-1))
  for (const input of app.inputs()) expect(Object.keys(input).sort()).toStrictEqual(['limit', 'since'])
  const wire = JSON.stringify(app.requests)
  const [date] = wrong.toISOString().split('T')
  for (const trace of [date, String(wrong.getTime()).slice(0, 6), wrong.toUTCString().slice(0, 16)])
    expect(wire).not.toContain(trace)
})
