import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { allTenants, appendChange, globalOnly, type TableDeclarations, tenant } from '../../src/index.ts'
import { type AnyTables, type Bed, quoted } from '../support/bed.ts'
import { changesBy } from '../support/changes.ts'
import { type Announcing, openAnnouncing, type Trx, type Whose } from '../support/explicit.ts'
import { hostile } from './key-types.ts'

const acme = tenant('acme')

/** What explicit appends accept, and what they refuse by field. */
export function explicitInput(bed: () => Bed): void {
  describe('input of explicit appends', () => {
    let at: Announcing
    beforeAll(async () => {
      at = await openAnnouncing(bed())
    })

    describe('keys', () => {
      const keyOf = async (table: string, key: unknown, whose: Whose = acme): Promise<string> => {
        const [change] = await changesBy(at.feed, () => at.notified(whose, { entries: [{ table, keys: [key] }] }))
        return change?.replace(`update ${table} `, '').replace(' @acme', '') ?? ''
      }

      it.each([
        ['tasks', 7, '7'],
        ['tasks', 9007199254740993n, '9007199254740993'],
        ['tasks', ' 007', '7'],
        ['tasks', { id: 7 }, '7'],
        ['rates', 'EUR', 'EUR'],
        ['rates', 'E  ', 'E'],
        ['amounts', '1.500', '1.5'],
        ['amounts', 3, '3'],
        ['blobs', Uint8Array.of(0, 255), '00ff'],
        ['blobs', Buffer.from('00ff', 'hex'), '00ff'],
        ['blobs', '00ff', '00ff'],
        ['blobs', '\\x00ff', '00ff'],
        ['moments', '2024-03-10T02:30:00.5', '2024-03-10T02:30:00.5'],
        ['moments', '2024-03-10 02:30:00.5-05', '2024-03-10T07:30:00.5'],
        ['notes', { task: 1, slug: 'a"]', at: '2024-03-10T02:30:00', extra: 1 }, '["1","a\\"]","2024-03-10T02:30:00"]'],
        ['notes', '["1","a","2024-03-10T02:30:00"]', '["1","a","2024-03-10T02:30:00"]'],
      ])('of %s as %s', async (table, key, text) => {
        expect(await keyOf(table, key)).toBe(text)
      })

      it.each([
        'infinity',
        '-infinity',
        '0044-03-15T00:00:00 BC',
        '10000-01-01T00:00:00.000001',
        '2024-03-10T02:30:00',
      ])('a canonical instant means the same in every session: %s', async (text) => {
        const changes = await changesBy(at.feed, () =>
          at.inTransaction(async (trx) => {
            for (const statement of hostile.split(';'))
              await sql.raw(statement.replace(/^\s*set /, 'set local ')).execute(trx)
            await at.told(trx, globalOnly, { entries: [{ table: 'moments', keys: [text] }] })
            await at.told(trx, acme, { entries: [{ table: 'notes', keys: [JSON.stringify(['1', 'x', text])] }] })
          }),
        )
        expect(changes).toEqual([`update moments ${text}`, `update notes ${JSON.stringify(['1', 'x', text])} @acme`])
      })

      it('what capture wrote can be given back as it is', async () => {
        await bed().sql(`set timezone = 'Pacific/Chatham'`)
        const captured = await changesBy(at.feed, async () => {
          await bed().sql(
            `insert into blobs values (decode('00', 'hex')); insert into amounts values (2.50); insert into moments values ('2024-12-31 23:00:00-08'); insert into rates values ('x')`,
          )
        })
        const again = await changesBy(at.feed, () =>
          at.notified(globalOnly, {
            entries: captured.map((change) => ({
              table: change.split(' ')[1],
              keys: [change.split(' ').slice(2).join(' ')],
            })),
          }),
        )
        expect(again).toEqual(captured.map((change) => change.replace('create', 'update')))
      })

      const composite =
        /^"entries\[0\]\.keys\[0\]": must be an object of "task", "slug", "at", or a canonical key text$/
      it.each([
        ['tasks', undefined, /^"entries\[0\]\.keys\[0\]": is missing/],
        ['tasks', null, /^"entries\[0\]\.keys\[0\]": /],
        ['tasks', {}, /^"entries\[0\]\.keys\[0\]": is missing/],
        ['tasks', [1], /^"entries\[0\]\.keys\[0\]": must be a value/],
        ['tasks', Number.NaN, /safe integer/],
        ['tasks', 1.5, /safe integer/],
        ['tasks', 2 ** 53, /safe integer/],
        ['tasks', '1\0', /NUL/],
        ['tasks', () => 1, /^"entries\[0\]\.keys\[0\]": /],
        ['tasks', Symbol('1'), /^"entries\[0\]\.keys\[0\]": /],
        ['tasks', new Date(0), /must not be a Date/],
        ['moments', new Date('2024-03-10T02:30:00.5Z'), /lacks microseconds/],
        ['notes', 1, composite],
        ['notes', 'x', composite],
        ['notes', '["1","a"]', composite],
        ['notes', '[1,2,3]', composite],
        ['notes', ['1', 'a', 'b'], composite],
        ['notes', { task: 1, at: 'x' }, /^"entries\[0\]\.keys\[0\]\.slug": is missing/],
      ])('of the wrong shape are refused before anything is sent: %s %j', async (table, key, message) => {
        await at.inTransaction(async (trx) => {
          await expect(at.told(trx, acme, { entries: [{ table, keys: [key] }] })).rejects.toMatchObject({
            code: 'invalidInput',
            message: expect.stringMatching(message),
          })
          // The caller's transaction is still usable.
          await sql`select 1`.execute(trx)
        })
      })

      it.each([
        ['tasks', 'abc'],
        ['tasks', '9223372036854775808'],
        ['moments', 'yesterday-ish'],
        ['blobs', 'xyz'],
        ['amounts', ''],
        ['notes', { task: 1, slug: '\uD800', at: 'x' }],
        ['notes', { task: 99999999999, slug: 'a', at: '2024-01-01' }],
      ])('that Postgres cannot cast are refused by field, without their value: %s %j', async (table, key) => {
        let thrown: unknown
        const changes = await changesBy(at.feed, async () => {
          thrown = await at
            .notified(acme, {
              entries: [
                { table: 'tasks', keys: [1] },
                { table, keys: [key] },
              ],
            })
            .catch((error: unknown) => error)
        })
        expect(thrown).toMatchObject({
          code: 'invalidInput',
          field: 'entries[1].keys',
          message: expect.stringContaining('roll it back'),
        })
        if (typeof key === 'string' && key !== '') expect((thrown as Error).message).not.toContain(key)
        expect(changes).toEqual([])
      })
    })

    describe('scopes', () => {
      it('are recorded with the keys, in the order of the declaration', async () => {
        const append = (scopes: unknown): Promise<unknown> =>
          at.notified(acme, { entries: [{ table: 'docs', keys: [1], scopes }] })
        await append({ team: 'a', project: 7 })
        await append({ project: '007', team: null })
        expect(
          await bed().sql(
            `select array_to_json(scopes)::text as scopes from ${quoted(bed().feedSchema)}.log order by id desc limit 2`,
          ),
        ).toEqual([{ scopes: '["7",null]' }, { scopes: '["7","a"]' }])
      })

      it.each([
        [undefined, 'entries[0].scopes', 'is required with keys'],
        [{ project: 1 }, 'entries[0].scopes.team', 'is missing'],
        [{ project: 1, team: 'a', other: 1 }, 'entries[0].scopes.other', 'is no scope column'],
        [{ project: {}, team: 'a' }, 'entries[0].scopes.project', 'must be a value'],
        [null, 'entries[0].scopes', 'must be an object'],
        ['project', 'entries[0].scopes', 'must be an object'],
        [[1, 2], 'entries[0].scopes', 'must be an object'],
      ])('must be complete: %j', async (scopes, field, message) => {
        await expect(at.notified(acme, { entries: [{ table: 'docs', keys: [1], scopes }] })).rejects.toMatchObject({
          code: 'invalidInput',
          field,
          message: expect.stringContaining(message),
        })
      })

      it('that cannot be cast are refused', async () => {
        await expect(
          at.notified(acme, { entries: [{ table: 'docs', keys: [1], scopes: { project: 'x', team: 'a' } }] }),
        ).rejects.toMatchObject({ code: 'invalidInput', field: expect.stringMatching(/^entries\[0\]/) })
      })

      it('are not needed to announce a whole table, and not known where none are declared', async () => {
        expect(await changesBy(at.feed, () => at.notified(acme, { entries: [{ table: 'docs' }] }))).toEqual([
          'invalidate docs * @acme',
        ])
        await expect(
          at.notified(acme, { entries: [{ table: 'tasks', keys: [1], scopes: { v: 1 } }] }),
        ).rejects.toMatchObject({ code: 'invalidInput', field: 'entries[0].scopes.v' })
      })
    })

    describe('refused', () => {
      it.each([
        ['no request', undefined, 'request'],
        ['no entries', {}, 'entries'],
        ['entries that are no list', { entries: { table: 'tasks' } }, 'entries'],
        ['an empty list', { entries: [] }, 'entries'],
        ['101 entries', { entries: Array.from({ length: 101 }, () => ({ table: 'tasks' })) }, 'entries'],
        ['an entry that is null', { entries: [null] }, 'entries[0]'],
        ['an entry that is a name', { entries: [{ table: 'rates' }, 'tasks'] }, 'entries[1]'],
        ['keys that are no list', { entries: [{ table: 'tasks', keys: 7 }] }, 'entries[0].keys'],
        ['keys that are null', { entries: [{ table: 'tasks', keys: null }] }, 'entries[0].keys'],
        ['no keys in a list', { entries: [{ table: 'tasks', keys: [] }] }, 'entries[0].keys'],
        [
          '10,001 keys',
          { entries: [{ table: 'tasks', keys: Array.from({ length: 10_001 }, (_, i) => i) }] },
          'entries[0].keys',
        ],
        [
          '10,001 keys over two entries',
          {
            entries: [
              { table: 'tasks', keys: Array.from({ length: 10_000 }, (_, i) => i) },
              { table: 'rates', keys: ['a'] },
            ],
          },
          'entries[1].keys',
        ],
        ['a long reason', { entries: [{ table: 'tasks' }], reason: 'x'.repeat(201) }, 'reason'],
        ['a reason that is no text', { entries: [{ table: 'tasks' }], reason: 7 }, 'reason'],
        ['an actor with NUL', { entries: [{ table: 'tasks' }], actor: 'a\0' }, 'actor'],
      ])('%s', async (_, request, field) => {
        await at.inTransaction(async (trx) => {
          await expect(at.told(trx, acme, request)).rejects.toMatchObject({ code: 'invalidInput', field })
          await sql`select 1`.execute(trx)
        })
      })

      it.each([undefined, 7, 'nope', 'app.tasks', '__proto__', 'toString'])('an unknown table: %j', async (table) => {
        await expect(at.notified(acme, { entries: [{ table: 'tasks' }, { table }] })).rejects.toMatchObject({
          code: 'unknownTable',
          field: 'entries[1].table',
        })
      })

      it.each([
        ['none', undefined],
        ['a look-alike', { kind: 'tenant', tenant: 'acme' }],
        ["every tenant's", allTenants('test')],
      ])('an audience that is %s', async (_, whose) => {
        await expect(at.notified(whose, { entries: [{ table: 'tasks' }] })).rejects.toMatchObject({
          code: 'invalidInput',
          field: 'audience',
        })
      })

      it.each([
        ['nothing', () => undefined],
        ['the database itself', () => bed().db],
        ['an object', () => ({})],
      ])('a transaction that is %s', async (_, transaction) => {
        await expect(
          at.told(transaction() as unknown as Trx, acme, { entries: [{ table: 'tasks' }] }),
        ).rejects.toMatchObject({ code: 'invalidInput', field: 'transaction' })
      })

      it('an operation that does not fit', async () => {
        const append = (request: unknown): Promise<unknown> =>
          at.inTransaction((trx) =>
            appendChange(
              at.feed,
              trx,
              acme,
              request as Parameters<typeof appendChange<AnyTables, TableDeclarations<AnyTables>, string>>[3],
            ),
          )
        await expect(append({ table: 'tasks', operation: 'upsert', keys: [1] })).rejects.toMatchObject({
          code: 'invalidInput',
          field: 'operation',
        })
        await expect(append({ table: 'tasks', operation: 'invalidate', keys: [1] })).rejects.toMatchObject({
          code: 'invalidInput',
          field: 'keys',
        })
        await expect(append({ table: 'tasks', operation: 'delete' })).rejects.toMatchObject({
          code: 'invalidInput',
          field: 'keys',
        })
        await expect(append({ table: 'tasks', operation: 'delete', keys: ['x'] })).rejects.toMatchObject({
          code: 'invalidInput',
          field: 'keys',
        })
        await expect(append({ table: 'nope', operation: 'delete', keys: [1] })).rejects.toMatchObject({
          code: 'unknownTable',
          field: 'table',
        })
        await expect(append(undefined)).rejects.toMatchObject({ code: 'invalidInput', field: 'request' })
      })
    })
  })
}
