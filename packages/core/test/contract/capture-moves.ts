import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { changesOf, entriesOf, lastWords, type LoggedEntry } from '../support/changes.ts'

const brief = ({ op, tenant, scopes, keys }: LoggedEntry): string =>
  `${op} @${tenant} ${JSON.stringify(scopes)} ${keys?.join(' ')}`

/**
 * Rows that change their tenant, their scopes or their key (docs/capture.md, rules 8, 9 and the fact table). Statement triggers tell what a statement has
 * done as a whole, deletes first; row triggers tell it row by row.
 */
export function captureMoves(bed: () => Bed): void {
  describe('moves', () => {
    beforeEach(() => bed().reset())
    const ddl = `create table tasks (id int not null, tenant_id text not null, project int, team text, title text, primary key (id) deferrable initially immediate);
      insert into tasks values (1, 'acme', 10, 'a'), (2, 'acme', 10, 'b'), (3, 'bolt', 20, 'c'), (4, 'bolt', null, null)`
    const scoped = { tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project', 'team'] } } as const

    it('to another tenant: a delete for the old one, a create for the new one', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      expect(await changesOf(bed(), feed, `update tasks set tenant_id = 'bolt' where id = 1`)).toEqual([
        'delete tasks 1 @acme',
        'create tasks 1 @bolt',
      ])
    })

    it('of several rows between tenants at once, beside a plain update', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      const told = await changesOf(
        bed(),
        feed,
        `update tasks set title = 'x', tenant_id = case id when 1 then 'bolt' when 3 then 'acme' else tenant_id end`,
      )
      if (bed().level === 'row') {
        expect(told).toEqual([
          'delete tasks 1 @acme',
          'create tasks 1 @bolt',
          'update tasks 2 @acme',
          'delete tasks 3 @bolt',
          'create tasks 3 @acme',
          'update tasks 4 @bolt',
        ])
      } else {
        expect(told.slice(0, 2).toSorted()).toEqual(['delete tasks 1 @acme', 'delete tasks 3 @bolt'])
        expect(told.slice(2, 4).toSorted()).toEqual(['create tasks 1 @bolt', 'create tasks 3 @acme'])
        expect(told.slice(4).toSorted()).toEqual(['update tasks 2 @acme', 'update tasks 4 @bolt'])
      }
    })

    it('scope values stand in every entry, null among them', async () => {
      await capture(bed(), ddl, scoped)
      expect((await entriesOf(bed(), `update tasks set title = 'x' where id in (1, 4)`)).map(brief).toSorted()).toEqual(
        ['u @acme ["10","a"] 1', 'u @bolt [null,null] 4'],
      )
      expect(
        (
          await entriesOf(bed(), `insert into tasks values (5, 'acme', 10, null)`, `delete from tasks where id = 2`)
        ).map(brief),
      ).toEqual(['c @acme ["10",null] 5', 'd @acme ["10","b"] 2'])
    })

    it.each([
      ['between scopes', `project = 11`, 1, ['d @acme ["10","a"] 1', 'c @acme ["11","a"] 1']],
      ['to null', `team = null`, 1, ['d @acme ["10","a"] 1', 'c @acme ["10",null] 1']],
      ['from null', `project = 5, team = 'z'`, 4, ['d @bolt [null,null] 4', 'c @bolt ["5","z"] 4']],
      [
        'of tenant and scope together',
        `tenant_id = 'acme', project = 1`,
        3,
        ['d @bolt ["20","c"] 3', 'c @acme ["1","c"] 3'],
      ],
    ])('%s: a delete in the old scope, a create in the new one', async (_, set, id, expected) => {
      await capture(bed(), ddl, scoped)
      expect((await entriesOf(bed(), `update tasks set ${set} where id = ${id}`)).map(brief)).toEqual(expected)
    })

    it('a changed key is a delete of the old and a create of the new', async () => {
      const feed = await capture(bed(), ddl, scoped)
      expect(await changesOf(bed(), feed, `update tasks set id = 50 where id = 1`)).toEqual([
        'delete tasks 1 @acme',
        'create tasks 50 @acme',
      ])
    })

    it('two rows of one tenant that swap their keys end as present, and none is told as deleted', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      const told = await changesOf(bed(), feed, `update tasks set id = 3 - id where id in (1, 2)`)
      const operation = bed().level === 'row' ? 'create' : 'update'
      expect(told.toSorted()).toEqual([`${operation} tasks 1 @acme`, `${operation} tasks 2 @acme`])
    })

    it('a swap across tenants ends with each key present for its new tenant only', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      const told = await changesOf(bed(), feed, `update tasks set id = 4 - id where id in (1, 3)`)
      expect(lastWords(told, 'forEachTenant')).toEqual([
        'tasks 1 @acme deleted',
        'tasks 1 @bolt present',
        'tasks 3 @acme present',
        'tasks 3 @bolt deleted',
      ])
      if (bed().level === 'row') {
        // Told row by row, the delete from the one tenant may stand behind the create in the other: who reads both asks the row.
        expect(told).toEqual([
          'delete tasks 1 @acme',
          'create tasks 3 @acme',
          'delete tasks 3 @bolt',
          'create tasks 1 @bolt',
        ])
      } else {
        expect(told.slice(0, 2).toSorted()).toEqual(['delete tasks 1 @acme', 'delete tasks 3 @bolt'])
        expect(told.slice(2).toSorted()).toEqual(['create tasks 1 @bolt', 'create tasks 3 @acme'])
      }
    })

    it('a swap across scopes ends with each key present in its new scope only', async () => {
      await capture(bed(), `${ddl}; update tasks set tenant_id = 'acme', team = null`, scoped)
      const entries = await entriesOf(bed(), `update tasks set id = 4 - id where id in (1, 3)`)
      expect(entries.map(brief).toSorted()).toEqual([
        'c @acme ["10",null] 3',
        'c @acme ["20",null] 1',
        'd @acme ["10",null] 1',
        'd @acme ["20",null] 3',
      ])
      if (bed().level === 'statement') expect(entries.map(({ op }) => op).join('')).toBe('ddcc')
    })

    const steps = 'create table steps (id int not null, note text, primary key (id) deferrable initially immediate)'
    const note = { steps: { tenant: null, key: 'id' } } as const
    it.each([
      ['ascending', 'generate_series(1, 5)', 'id + 1'],
      ['descending', 'generate_series(5, 1, -1)', 'id + 1'],
      ['mixed', 'unnest(array[3, 1, 5, 2, 4])', 'id + 1'],
      ['downwards', 'generate_series(1, 5)', 'id - 1'],
    ])(
      'a shift of all keys deletes one end and creates the other, and all between are present: rows %s',
      async (_, source, to) => {
        const feed = await capture(bed(), `${steps}; insert into steps select g, 'n' || g from ${source} g`, note)
        const told = await changesOf(bed(), feed, `update steps set id = ${to}`)
        const [gone, arrived] = to === 'id + 1' ? [1, 6] : [5, 0]
        const between = [1, 2, 3, 4, 5].filter((id) => id !== gone)
        expect(lastWords(told)).toEqual(
          [`steps ${gone} deleted`, ...[arrived, ...between].map((id) => `steps ${id} present`)].toSorted(),
        )
        expect(told.filter((change) => change.startsWith('delete'))).toEqual([`delete steps ${gone}`])
        if (bed().level === 'row') return expect(told).toHaveLength(6)
        expect(told[0]).toBe(`delete steps ${gone}`)
        expect(told[1]).toBe(`create steps ${arrived}`)
        expect(told.slice(2).toSorted()).toEqual(between.map((id) => `update steps ${id}`))
      },
    )

    it('a shift of rows that differ in nothing but the key: statement triggers tell only the ends', async () => {
      const feed = await capture(
        bed(),
        `create table steps (id int not null, primary key (id) deferrable initially immediate); insert into steps select generate_series(1, 4)`,
        note,
      )
      const told = await changesOf(bed(), feed, 'update steps set id = id + 1')
      if (bed().level === 'row') {
        expect(told).toEqual(['delete steps 1', 'create steps 2', 'create steps 3', 'create steps 4', 'create steps 5'])
      } else {
        expect(told).toEqual(['delete steps 1', 'create steps 5'])
      }
    })

    it('a key that is checked at once may be shifted too, row by row in an order that allows it', async () => {
      const feed = await capture(
        bed(),
        `create table steps (id int primary key, note text); insert into steps select g, 'n' || g from generate_series(4, 1, -1) g`,
        note,
      )
      const told = await changesOf(bed(), feed, 'update steps set id = id + 1')
      expect(lastWords(told)).toEqual([
        'steps 1 deleted',
        'steps 2 present',
        'steps 3 present',
        'steps 4 present',
        'steps 5 present',
      ])
    })

    it('an upsert that moves a key and uses it again ends with the key present', async () => {
      const feed = await capture(
        bed(),
        `create table slots (id int primary key, code text unique, tenant_id text not null); insert into slots values (1, 'a', 'acme')`,
        { slots: { tenant: 'tenant_id', key: 'id' } },
      )
      const told = await changesOf(
        bed(),
        feed,
        `insert into slots values (2, 'a', 'acme'), (1, 'b', 'acme') on conflict (code) do update set id = slots.id + 100`,
      )
      expect(lastWords(told)).toEqual(['slots 1 present', 'slots 101 present'])
      expect(told).toEqual(['delete slots 1 @acme', 'create slots 101 @acme', 'create slots 1 @acme'])
    })

    describe('with a key that only the end of the transaction checks', () => {
      let feed: AnyFeed
      beforeEach(async () => {
        feed = await capture(
          bed(),
          `create table slots (id int primary key deferrable initially deferred, org text not null, v text); insert into slots values (1, 'acme', 'one'), (2, 'acme', 'two'), (3, 'bolt', 'three')`,
          { slots: { tenant: 'org', key: 'id' } },
        )
      })
      const told = (...statements: string[]): Promise<string[]> =>
        changesOf(bed(), feed, `begin; ${statements.join('; ')}; commit`)

      it('a swap in two statements ends as present', async () => {
        const changes = await told(`update slots set id = 2 where v = 'one'`, `update slots set id = 1 where v = 'two'`)
        expect(lastWords(changes)).toEqual(['slots 1 present', 'slots 2 present'])
        expect(await bed().sql('select v from slots order by id')).toMatchObject([{ v: 'two' }, { v: 'one' }, {}])
      })

      it('a key that is taken first and freed later ends as present: by delete, by update, in bulk', async () => {
        expect(
          lastWords(await told(`insert into slots values (1, 'acme', 'new')`, `delete from slots where v = 'one'`)),
        ).toEqual(['slots 1 present'])
        expect(
          lastWords(
            await told(`insert into slots values (2, 'acme', 'newer')`, `update slots set id = 22 where v = 'two'`),
          ),
        ).toEqual(['slots 2 present', 'slots 22 present'])
        expect(
          lastWords(
            await told(
              `insert into slots select id, org, 'last' from slots where id < 3`,
              `delete from slots where v in ('new', 'newer')`,
            ),
          ),
        ).toEqual(['slots 1 present', 'slots 2 present'])
        expect(
          lastWords(
            await told(
              `insert into slots select id, org, 'very last' from slots where id < 3`,
              `update slots set id = id + 100 where v = 'last'`,
            ),
          ),
        ).toEqual(['slots 1 present', 'slots 101 present', 'slots 102 present', 'slots 2 present'])
        expect(lastWords(await told(`delete from slots where id in (1, 2)`))).toEqual([
          'slots 1 deleted',
          'slots 2 deleted',
        ])
      })

      it('a key that is taken by another tenant first ends as present there, and as deleted here', async () => {
        const changes = await told(`insert into slots values (1, 'bolt', 'new')`, `delete from slots where v = 'one'`)
        expect(lastWords(changes, 'forEachTenant')).toEqual(['slots 1 @acme deleted', 'slots 1 @bolt present'])
      })

      it('a key that a data-modifying CTE frees and the statement uses again ends as present, whether or not it is read', async () => {
        expect(
          lastWords(
            await told(
              `with gone as (delete from slots where id = 1 returning id) insert into slots select id, 'acme', 'again' from gone`,
            ),
          ),
        ).toEqual(['slots 1 present'])
        // Postgres runs a CTE that nobody reads after the statement itself.
        expect(
          lastWords(
            await told(
              `with gone as (delete from slots where id = 1) insert into slots values (1, 'acme', 'and again')`,
            ),
          ),
        ).toEqual(['slots 1 present'])
        expect(
          lastWords(
            await told(
              `with moved as (update slots set id = 50 where id = 1) insert into slots values (1, 'acme', 'and again')`,
            ),
          ),
        ).toEqual(['slots 1 present', 'slots 50 present'])
      })
    })

    it('a part of a composite key moves like any key', async () => {
      const feed = await capture(
        bed(),
        `create table notes (task int, n int, tenant_id text not null, primary key (task, n)); insert into notes values (1, 1, 'acme')`,
        {
          notes: { tenant: 'tenant_id', key: ['task', 'n'] },
        },
      )
      expect(await changesOf(bed(), feed, `update notes set n = 2`)).toEqual([
        'delete notes ["1","1"] @acme',
        'create notes ["1","2"] @acme',
      ])
    })

    it('the tenant column may be part of the key', async () => {
      const feed = await capture(
        bed(),
        `create table notes (tenant_id text, n int, primary key (tenant_id, n)); insert into notes values ('acme', 1)`,
        {
          notes: { tenant: 'tenant_id', key: ['tenant_id', 'n'], scopes: ['n'] },
        },
      )
      expect(await changesOf(bed(), feed, `update notes set tenant_id = 'bolt'`)).toEqual([
        'delete notes ["acme","1"] @acme',
        'create notes ["bolt","1"] @bolt',
      ])
    })
  })
}
