import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeCursor } from '../../src/cursor/codec.ts'
import * as core from '../../src/index.ts'
import { openReadFeed, page, readAll } from './support.ts'

// What one tenant can learn of another, tried with everything this package exports.

let at: Awaited<ReturnType<typeof openReadFeed>>
beforeAll(async () => {
  at = await openReadFeed()
  await at.run(`insert into item select g, 'acme', 'secret of acme' from generate_series(1, 20) g`)
  await at.run(`insert into note values (1, 'acme', 'secret of acme')`)
  await at.run(`insert into item values (1001, 'rival', '')`)
})
afterAll(() => at[Symbol.asyncDispose]())

const acme = core.tenant('acme')
const rival = core.tenant('rival')

it('covers every export that takes an audience', () => {
  const functions = Object.entries(core).filter(
    ([, value]) => typeof value === 'function' && !String(value).startsWith('class'),
  )
  expect(functions.map(([name]) => name).toSorted()).toEqual([
    'allTenants',
    'appendChange',
    'createFeed',
    'notify',
    'readChanges',
    'tenant',
    'untrack',
  ])
})

describe('readChanges', () => {
  it.each(['start', 'now', 'cursor at the start', 'cursor in the middle', 'cursor at the head'])(
    'gives the rival nothing of acme from %s',
    async (from) => {
      const cursors: Record<string, string> = {
        'cursor at the start': page(await core.readChanges(at.feed, acme, { since: 'start', limit: 1 })).cursor,
        'cursor in the middle': page(await core.readChanges(at.feed, acme, { since: 'start', limit: 9 })).cursor,
        'cursor at the head': page(await core.readChanges(at.feed, acme, { since: 'now' })).cursor,
      }
      const since = cursors[from] ?? from
      const answers: core.ReadResult[] = [await core.readChanges(at.feed, rival, { since })]
      if (answers[0] !== undefined && 'resync' in answers[0])
        answers.push(await core.readChanges(at.feed, rival, { since: answers[0].resync.from }))
      for (const answer of answers) {
        expect(JSON.stringify(answer)).not.toContain('acme')
        if ('changes' in answer)
          expect(answer.changes.every((c) => c.tenant === 'rival' || c.tenant === null)).toBe(true)
      }
      if (since in cursors || from.startsWith('cursor'))
        expect(answers[0]).toMatchObject({ resync: { reason: 'audience' } })
    },
  )

  it('answers a foreign cursor, whatever it says of the foreign feed, alike', async () => {
    const early = page(await core.readChanges(at.feed, acme, { since: 'start', limit: 1 })).cursor
    const late = page(await core.readChanges(at.feed, acme, { since: 'now' })).cursor
    const nobody = page(await core.readChanges(at.feed, core.tenant('no such tenant'), { since: 'now' })).cursor
    const all = page(await core.readChanges(at.feed, core.allTenants('test'), { since: 'now' })).cursor
    const answers = await Promise.all(
      [early, late, nobody, all].map((since) => core.readChanges(at.feed, rival, { since })),
    )
    // The head they are sent to is the rival's own; its snapshot moves with every transaction of the server.
    const told = answers.map((answer) => {
      if (!('resync' in answer)) throw new Error('expected a resync')
      const { from, ...rest } = answer.resync
      const head = decodeCursor(from)
      if (head.kind !== 'cursor') throw new Error('expected a cursor')
      return { ...rest, audience: head.envelope.audience, hw: head.envelope.cursor.hw }
    })
    expect(told).toEqual(Array.from(told, () => told[0]))
    expect(told[0]?.reason).toBe('audience')
  })

  it('answers for a tenant without rows as for one that does not exist', async () => {
    const answer = await readAll(at.feed, core.tenant('no such tenant'), 'start')
    expect(answer.changes.every((c) => c.operation === 'invalidate' && c.tenant === null)).toBe(true)
  })

  it.each([`acme' or '1'='1`, 'acme\u0000', '=acme', '', 'null', `{acme}`, '%', 'ACME', ' acme'])(
    'does not take %j for acme',
    async (name) => {
      let changes: core.Change[] = []
      try {
        changes = (await readAll(at.feed, core.tenant(name), 'start')).changes
      } catch (error) {
        expect(error).toBeInstanceOf(core.InvalidInputError)
      }
      expect(changes.filter((c) => c.tenant !== null)).toEqual([])
    },
  )

  it('does not take a tenant with an empty or odd name for the global rows', async () => {
    await at.run(`insert into item values (2001, '', ''), (2002, '!', ''), (2003, '=', '')`)
    await at.run(`insert into city values (1)`)
    const global = await readAll(at.feed, core.globalOnly, 'start')
    expect(global.changes.filter((c) => c.tenant !== null)).toEqual([])
    const odd = await readAll(at.feed, core.tenant('='), 'start')
    expect(odd.changes.filter((c) => c.tenant !== null).map((c) => c.key)).toEqual(['2003'])
  })
})

describe.each(['notify', 'appendChange'] as const)('%s', (call) => {
  const append = (audience: core.TenantAudience | core.GlobalAudience, key: number) =>
    at.db
      .transaction()
      .execute((trx) =>
        call === 'notify'
          ? core.notify(at.feed, trx, audience, { entries: [{ table: 'item', keys: [key] }] })
          : core.appendChange(at.feed, trx, audience, { table: 'item', operation: 'update', keys: [key] }),
      )

  it('speaks to its own tenant only, and tells nothing of whether a key exists elsewhere', async () => {
    const since = page(await core.readChanges(at.feed, acme, { since: 'now' })).cursor
    const foreign = await append(rival, 1)
    const unknown = await append(rival, 99_999)
    expect({ ...foreign, token: '' }).toEqual({ ...unknown, token: '' })
    expect((await readAll(at.feed, acme, since)).changes).toEqual([])
  })

  it('refuses keys of tenant rows without a tenant', async () => {
    await expect(append(core.globalOnly, 1)).rejects.toMatchObject({ code: 'invalidInput' })
    await expect(append(core.allTenants('test') as never, 1)).rejects.toMatchObject({
      code: 'invalidInput',
      field: 'audience',
    })
  })
})
