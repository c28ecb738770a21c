import { beforeEach, describe, expect, it } from 'vitest'
import { type Bed, capture } from '../support/bed.ts'
import { changesOf, entriesOf, type LoggedEntry } from '../support/changes.ts'

const brief = ({ op, tenant, scopes, keys }: LoggedEntry): string =>
  `${op} @${tenant} ${JSON.stringify(scopes)} ${keys?.join(' ')}`

/** Rows that change their tenant, their scopes or their key (docs/capture.md, rules 8, 9 and the fact table). */
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
      expect(told.slice(0, 2).toSorted()).toEqual(['delete tasks 1 @acme', 'delete tasks 3 @bolt'])
      expect(told.slice(2, 4).toSorted()).toEqual(['create tasks 1 @bolt', 'create tasks 3 @acme'])
      expect(told.slice(4).toSorted()).toEqual(['update tasks 2 @acme', 'update tasks 4 @bolt'])
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

    it('two rows of one tenant that swap their keys are two updates', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      expect((await changesOf(bed(), feed, `update tasks set id = 3 - id where id in (1, 2)`)).toSorted()).toEqual([
        'update tasks 1 @acme',
        'update tasks 2 @acme',
      ])
    })

    it('a swap across tenants ends with each key present for its new tenant only', async () => {
      const feed = await capture(bed(), ddl, { tasks: { tenant: 'tenant_id', key: 'id' } })
      const told = await changesOf(bed(), feed, `update tasks set id = 4 - id where id in (1, 3)`)
      expect(told.slice(0, 2).toSorted()).toEqual(['delete tasks 1 @acme', 'delete tasks 3 @bolt'])
      expect(told.slice(2).toSorted()).toEqual(['create tasks 1 @bolt', 'create tasks 3 @acme'])
    })

    it('a shift of all keys deletes the first, creates the last and updates those between', async () => {
      const feed = await capture(
        bed(),
        `create table steps (id int not null, note text, primary key (id) deferrable initially immediate); insert into steps select g, 'n' || g from generate_series(1, 5) g`,
        { steps: { tenant: null, key: 'id' } },
      )
      const told = await changesOf(bed(), feed, 'update steps set id = id + 1')
      expect(told[0]).toBe('delete steps 1')
      expect(told[1]).toBe('create steps 6')
      expect(told.slice(2).toSorted()).toEqual(['update steps 2', 'update steps 3', 'update steps 4', 'update steps 5'])
    })

    it('a shift of rows that differ in nothing but the key tells only the ends', async () => {
      const feed = await capture(
        bed(),
        `create table steps (id int not null, primary key (id) deferrable initially immediate); insert into steps select generate_series(1, 4)`,
        { steps: { tenant: null, key: 'id' } },
      )
      expect(await changesOf(bed(), feed, 'update steps set id = id + 1')).toEqual(['delete steps 1', 'create steps 5'])
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
      expect(told.filter((change) => change.startsWith('delete'))).toEqual(['delete slots 1 @acme'])
      expect(told.indexOf('delete slots 1 @acme')).toBeLessThan(told.indexOf('create slots 1 @acme'))
      expect(told).toContain('create slots 101 @acme')
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
