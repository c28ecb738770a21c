import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { appendChange, type Audience, globalOnly, readChanges, tenant } from '../../src/index.ts'
import { type AnyFeed, type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesBy, entriesOf } from '../support/changes.ts'
import { announcing, type Announcing, openAnnouncing } from '../support/explicit.ts'

const acme = tenant('acme')

/** Entries appended by an explicit call, in the transaction of the write they speak of. */
export function explicit(bed: () => Bed): void {
  describe('explicit appends', () => {
    // One feed for all of them: each looks only at what it appends itself.
    let at: Announcing
    beforeAll(async () => {
      at = await openAnnouncing(bed())
    })

    it('appear when the transaction commits, as updates, between the writes around them', async () => {
      const changes = await changesBy(at.feed, () =>
        at.inTransaction(async (trx) => {
          await sql`insert into tasks values (1, 'acme')`.execute(trx)
          await at.told(trx, acme, { entries: [{ table: 'tasks', keys: [7] }, { table: 'rates' }] })
          await sql`delete from tasks`.execute(trx)
        }),
      )
      expect(changes).toEqual([
        'create tasks 1 @acme',
        'update tasks 7 @acme',
        'invalidate rates *',
        'delete tasks 1 @acme',
      ])
    })

    it('vanish when the transaction rolls back, to a savepoint or as a whole', async () => {
      const changes = await changesBy(at.feed, async () => {
        await at.inTransaction(async (trx) => {
          await at.told(trx, acme, { entries: [{ table: 'tasks', keys: [1] }] })
          await sql`savepoint s`.execute(trx)
          await at.told(trx, acme, { entries: [{ table: 'tasks', keys: [2] }] })
          await sql`rollback to s`.execute(trx)
        })
        await expect(
          at.inTransaction(async (trx) => {
            await at.told(trx, acme, { entries: [{ table: 'tasks', keys: [3] }] })
            throw new Error('undo')
          }),
        ).rejects.toThrow('undo')
      })
      expect(changes).toEqual(['update tasks 1 @acme'])
    })

    it('answer with the token of the transaction, the tables and the number of changes', async () => {
      const since = await cursorOf(at.feed, acme)
      const result = await at.notified(acme, {
        entries: [{ table: 'tasks', keys: [1, 2, '2', 2n] }, { table: 'tasks' }, { table: 'rates', keys: ['EUR'] }],
      })
      expect(result).toEqual({
        token: expect.stringMatching(/^[0-9a-f]{12}\.\d+$/),
        tables: ['tasks', 'rates'],
        changes: 4,
      })
      const page = await readChanges(at.feed, acme, { since })
      if (!('changes' in page)) throw new Error('no page')
      expect(new Set(page.changes.map(({ tx }) => tx))).toEqual(new Set([result.token.split('.')[1]]))
    })

    it('are marked as explicit, with who and why', async () => {
      await at.notified(acme, { entries: [{ table: 'tasks', keys: [1] }], reason: 'import' })
      await at.notified(acme, { entries: [{ table: 'tasks' }], actor: 'job 7' })
      await bed().sql(`insert into tasks values (100, 'acme')`)
      expect(
        await bed().sql(`select explicit, actor, reason from ${quoted(bed().feedSchema)}.log order by id desc limit 3`),
      ).toEqual([
        { explicit: false, actor: null, reason: null },
        { explicit: true, actor: 'job 7', reason: null },
        { explicit: true, actor: 'external', reason: 'import' },
      ])
    })

    it.each(['create', 'update', 'delete'] as const)('say %s when asked to', async (operation) => {
      expect(
        await changesBy(at.feed, () =>
          at.inTransaction((trx) => appendChange(at.feed, trx, acme, { table: 'tasks', operation, keys: ['5'] })),
        ),
      ).toEqual([`${operation} tasks 5 @acme`])
    })

    it('speak of a whole table', async () => {
      expect(
        await changesBy(at.feed, () =>
          at.inTransaction((trx) => appendChange(at.feed, trx, acme, { table: 'tasks', operation: 'invalidate' })),
        ),
      ).toEqual(['invalidate tasks * @acme'])
    })

    it('are cut into entries of at most 1,000 keys', async () => {
      const keys = Array.from({ length: 2500 }, (_, i) => i)
      const entries = await entriesOf(
        {
          ...bed(),
          sql: (text) =>
            text === 'notify'
              ? at.notified(acme, { entries: [{ table: 'tasks', keys }] }).then(() => [])
              : bed().sql(text),
        },
        'notify',
      )
      expect(entries.map(({ n, keys }) => [n, keys?.length])).toEqual([
        [1000, 1000],
        [1000, 1000],
        [500, 500],
      ])
      expect(entries.flatMap(({ keys }) => keys)).toEqual(keys.map(String))
    })

    describe('whose they are', () => {
      const readers = [acme, tenant('bolt'), globalOnly] as const
      const readBy = async (work: () => Promise<unknown>): Promise<string[][]> => {
        const cursors = await Promise.all(readers.map((reader) => cursorOf(at.feed, reader)))
        await work()
        return await Promise.all(readers.map((reader, i) => readBack(at.feed, reader, cursors[i] ?? '')))
      }

      it("a tenant's rows are read by this tenant only", async () => {
        expect(await readBy(() => at.notified(acme, { entries: [{ table: 'tasks', keys: [1] }] }))).toEqual([
          ['update 1'],
          [],
          [],
        ])
      })

      it('a whole tenant table, announced for a tenant, is read by this tenant only', async () => {
        expect(await readBy(() => at.notified(acme, { entries: [{ table: 'tasks' }] }))).toEqual([
          ['invalidate *'],
          [],
          [],
        ])
      })

      it('a whole tenant table, announced for all, is read by every tenant', async () => {
        expect(await readBy(() => at.notified(globalOnly, { entries: [{ table: 'tasks' }] }))).toEqual([
          ['invalidate *'],
          ['invalidate *'],
          ['invalidate *'],
        ])
      })

      it('global rows are read by all, whoever announces them', async () => {
        for (const whose of [acme, globalOnly]) {
          expect(await readBy(() => at.notified(whose, { entries: [{ table: 'rates', keys: ['EUR'] }] }))).toEqual([
            ['update EUR'],
            ['update EUR'],
            ['update EUR'],
          ])
        }
      })

      it('rows of a tenant table cannot be announced without a tenant', async () => {
        await expect(
          at.notified(globalOnly, { entries: [{ table: 'rates' }, { table: 'tasks', keys: [1] }] }),
        ).rejects.toMatchObject({ code: 'invalidInput', field: 'entries[1].keys' })
      })
    })
  })

  describe('explicit appends to other feeds', () => {
    beforeEach(() => bed().reset())

    it('a tenant is brought to the type of the tenant columns, inside the transaction it was given', async () => {
      const feed = await capture(bed(), 'create table tasks (id int primary key, tenant_id int not null)', {
        tasks: { tenant: 'tenant_id', key: 'id' },
      })
      const at = announcing(bed(), feed)
      const changes = await changesBy(at.feed, async () => {
        await at.notified(tenant(' 007'), { entries: [{ table: 'tasks', keys: [1] }] })
        await at.notified(tenant(7), { entries: [{ table: 'tasks', keys: [2] }] })
      })
      expect(changes).toEqual(['update tasks 1 @7', 'update tasks 2 @7'])
      await expect(at.notified(tenant('seven'), { entries: [{ table: 'tasks', keys: [1] }] })).rejects.toMatchObject({
        code: 'invalidTenant',
        field: 'tenant',
      })
    })

    it('a feed without tenants takes globalOnly', async () => {
      await bed().sql('create table tasks (id int primary key)')
      const at = announcing(bed(), feedOn(bed(), { tasks: { key: 'id' } }, { tenancy: 'none' }))
      await at.feed.migrate()
      expect(
        await changesBy(at.feed, () => at.notified(globalOnly, { entries: [{ table: 'tasks', keys: [1] }] })),
      ).toEqual(['update tasks 1'])
      await expect(at.notified(acme, { entries: [{ table: 'tasks' }] })).rejects.toMatchObject({
        code: 'invalidInput',
        field: 'audience',
      })
    })

    it('before migrate() there is nothing to append to', async () => {
      await bed().sql('create table tasks (id int primary key)')
      const early = feedOn(bed(), { tasks: { tenant: null, key: 'id' } })
      await expect(
        announcing(bed(), early).notified(globalOnly, { entries: [{ table: 'tasks' }] }),
      ).rejects.toMatchObject({
        code: 'notMigrated',
      })
    })
  })
}

async function cursorOf(feed: AnyFeed, reader: Audience): Promise<string> {
  const page = await readChanges(feed, reader, { since: 'now' })
  if (!('changes' in page)) throw new Error('no page')
  return page.cursor
}

async function readBack(feed: AnyFeed, reader: Audience, since: string): Promise<string[]> {
  const page = await readChanges(feed, reader, { since })
  if (!('changes' in page)) throw new Error('no page')
  return page.changes.map(({ operation, key }) => `${operation} ${key ?? '*'}`)
}
