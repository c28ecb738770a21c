import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { untrack } from '../../src/index.ts'
import { type AnyFeed, type Bed, type Declaration, feedOn, quoted } from '../support/bed.ts'
import { changesOf } from '../support/changes.ts'
import { mended, quiet, startUp } from '../support/start-up.ts'

const declared = { tenant: 'tenant', key: 'id', scopes: ['scope'] } as const satisfies Declaration
const columns = `tenant text not null, scope text, secret text`
const rows = `insert into t values (1, 'acme', 's', 'x'), (2, 'acme', 's', 'y'), (3, 'bolt', 's', 'z')`

/** What the role that owns the capture functions may see: the keys that it looks up, and nothing else (docs/capture.md, "Row triggers"). */
export function lookupRights(bed: () => Bed): void {
  describe('the capture role', () => {
    // Roles belong to the whole server, where other databases have a capture role that is not ours.
    let captureRole: string
    let feed: AnyFeed
    beforeEach(async () => {
      await bed().reset()
      captureRole = `tidemark_test_${randomBytes(4).toString('hex')} "capture"`
    })
    afterEach(async () => {
      await bed().sql(`drop schema if exists ${quoted(bed().feedSchema)} cascade; drop schema if exists other cascade`)
      const [there] = await bed().sql(`select from pg_roles where rolname = '${captureRole}'`)
      if (there !== undefined)
        await bed().sql(`drop owned by ${quoted(captureRole)} cascade; drop role ${quoted(captureRole)}`)
    })
    const install = async (ddl: string, t: Declaration = declared): Promise<void> => {
      await bed().sql(ddl)
      feed = feedOn(bed(), { t }, { captureRole })
      await feed.migrate()
    }
    const policy = (): string => quoted(`!${bed().feedSchema}_keys`)
    /** All that the role was given outside the feed's schema. */
    const rights = async (): Promise<string[]> =>
      (
        await bed().sql(
          `select format('%s of %s.%s', lower(x.privilege_type), c.relname, a.attname) as may from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) x
           where x.grantee = (select oid from pg_roles where rolname = '${captureRole}')
           union all select format('%s on %s', lower(x.privilege_type), c.relname) from pg_class c, aclexplode(c.relacl) x
           where x.grantee = (select oid from pg_roles where rolname = '${captureRole}') and c.relnamespace = 'app'::regnamespace
           union all select format('%s on schema %s', lower(x.privilege_type), n.nspname) from pg_namespace n, aclexplode(n.nspacl) x
           where x.grantee = (select oid from pg_roles where rolname = '${captureRole}') and n.nspname <> '${bed().feedSchema}'
           union all select format('policy %s on %s', p.polname, p.polrelid::regclass) from pg_policy p where p.polname ~ '^!' order by 1`,
        )
      ).map(({ may }) => String(may))
    const lookups = ['select of t.id', 'select of t.scope', 'select of t.tenant', 'usage on schema app']
    const withPolicy = (): string[] => [`policy !${bed().feedSchema}_keys on t`, ...lookups]
    const swap = `update t set id = 3 - id where id in (1, 2)`

    const kinds: readonly (readonly [string, string, Declaration])[] = [
      [
        'with row triggers',
        `create table t (id int primary key deferrable, ${columns})`,
        { ...declared, capture: 'row' },
      ],
      [
        'with a deferrable key',
        `create table t (id int primary key deferrable, ${columns})`,
        { ...declared, capture: 'statement' },
      ],
      [
        'that is partitioned',
        `create table t (id int, ${columns}, primary key (id) deferrable) partition by range (id); create table t1 partition of t default`,
        declared,
      ],
    ]
    describe.each(kinds)('on a table %s', (_, ddl, t) => {
      beforeEach(() => install(`${ddl}; ${rows}`, t))

      it('may see key, tenant and scopes, and nothing else', async () => {
        expect(await rights()).toEqual(lookups)
        await bed().sql(`grant ${quoted(captureRole)} to current_user`)
        for (const [query, allowed] of [
          ['select id, tenant, scope from t', true],
          ['select secret from t', false],
          ['update t set id = 1', false],
          ['delete from t', false],
        ] as const) {
          await using session = await bed().session({ role: captureRole })
          const answer = session.sql(query)
          if (allowed) expect(await answer).toHaveLength(3)
          else await expect(answer).rejects.toMatchObject({ code: '42501' })
        }
        expect(await startUp(bed(), feed)).toEqual(quiet)
      })

      it('under row security, forced too, sees all rows: swaps are told right', async () => {
        await bed().sql(
          `alter table t enable row level security, force row level security; create policy nobody on t for select using (false); create policy writes on t for update using (true) with check (true)`,
        )
        await feed.migrate()
        expect(await rights()).toEqual(withPolicy())
        expect(await startUp(bed(), feed)).toEqual(quiet)
        const both = ['create t 1 @acme', 'create t 2 @acme']
        const told = await changesOf(bed(), feed, swap)
        // With statement triggers nothing is left to tell but an update: the same two keys are there.
        expect(told.toSorted().map((line) => line.replace('update', 'create'))).toEqual(both)
        await bed().sql(
          'alter table t no force row level security, disable row level security; drop policy nobody on t; drop policy writes on t',
        )
        expect(await startUp(bed(), feed)).toMatchObject({ installed: ['t'] })
        expect(await rights()).toEqual(lookups)
      })

      it('is blinded by row security that is switched on later: then the whole table is told instead of a guess', async () => {
        await bed().sql('alter table t enable row level security')
        const told = await changesOf(
          bed(),
          feed,
          `insert into t values (9, 'acme', 's')`,
          swap,
          'delete from t where id = 9',
        )
        expect(told[0]).toBe('create t 9 @acme')
        expect(told).toContain('invalidate t *')
        expect(told.filter((line) => line.startsWith('delete'))).toEqual([])
        expect(await feed.verify()).toHaveLength(1)
        await feed.migrate()
        expect(await rights()).toEqual(withPolicy())
        expect(
          await changesOf(bed(), feed, `insert into t values (9, 'acme', 's')`, 'delete from t where id = 9'),
        ).toEqual(['create t 9 @acme', 'delete t 9 @acme'])
      })

      it.each([
        [
          'the right to a column',
          () => `revoke select (tenant) on t from ${quoted(captureRole)}`,
          'may not see the keys',
        ],
        [
          'the right to the schema',
          () => `revoke usage on schema app from ${quoted(captureRole)}`,
          'may not see the keys',
        ],
        ['the policy', () => `drop policy ${policy()} on t`, 'may not see the keys'],
        [
          'the policy, exchanged for another',
          () => `alter policy ${policy()} on t using (id = 1)`,
          'may not see the keys',
        ],
        ['the policy, made for others', () => `alter policy ${policy()} on t to public`, 'may not see the keys'],
        ['a column too many', () => `grant select (secret) on t to ${quoted(captureRole)}`, 'may see more'],
      ])('taken or given by hand — %s: found and mended, nobody is told', async (__, damage, problem) => {
        await bed().sql('alter table t enable row level security')
        await feed.migrate()
        const before = await rights()
        expect(before).toEqual(withPolicy())
        await bed().sql(damage())
        expect(await startUp(bed(), feed)).toEqual(mended('t', 'rights', problem))
        expect(await rights()).toEqual(before)
      })

      it('without the right the write fails: no guess is told', async () => {
        await bed().sql(`revoke select (id) on t from ${quoted(captureRole)}`)
        await expect(bed().sql('update t set id = id + 10')).rejects.toMatchObject({ code: '42501' })
        await feed.migrate()
        expect(await changesOf(bed(), feed, 'update t set id = id + 10')).toHaveLength(6)
      })

      it('loses all of it with untrack()', async () => {
        await bed().sql('alter table t enable row level security')
        await feed.migrate()
        await untrack(feed, 't')
        // The right to use a schema shows nothing by itself, and other tables may need it.
        expect(await rights()).toEqual(['usage on schema app'])
      })

      it('behind a restrictive policy of the app may miss rows: refused, and found', async () => {
        await bed().sql(
          `alter table t enable row level security; create policy "only mine" on t as restrictive using (tenant = current_user)`,
        )
        const refusal = { code: 'unsupportedTable', table: 't' }
        await expect(feed.migrate()).rejects.toMatchObject({
          ...refusal,
          message: expect.stringContaining('restrictive'),
        })
        expect(await feed.verify()).toMatchObject([
          { ...refusal, problem: expect.stringContaining('restrictive'), unseen: true },
        ])
        // Limited to a role that is not the capture role it hides nothing.
        await bed().sql(`alter policy "only mine" on t to current_user`)
        await feed.migrate()
        expect(await startUp(bed(), feed)).toEqual(quiet)
        await bed().sql(`alter policy "only mine" on t to public; alter role ${quoted(captureRole)} bypassrls`)
        expect(await startUp(bed(), feed)).toEqual(quiet)
        expect((await changesOf(bed(), feed, swap)).toSorted().map((line) => line.replace('update', 'create'))).toEqual(
          ['create t 1 @acme', 'create t 2 @acme'],
        )
      })
    })

    it('gets nothing where it looks nothing up, and loses it when the table no longer needs it', async () => {
      const trigger = `create trigger app after insert on t for each row execute function app.f()`
      await install(
        `create table t (id int primary key, ${columns}); create function app.f() returns trigger language plpgsql as 'begin return null; end'`,
      )
      expect(await rights()).toEqual([])
      // Row triggers by themselves look nothing up.
      await bed().sql(trigger)
      await feed.migrate()
      expect(await rights()).toEqual([])
      await bed().sql('alter table t drop constraint t_pkey; alter table t add primary key (id) deferrable')
      await feed.migrate()
      expect(await rights()).toEqual(lookups)
      await bed().sql(
        'alter table t drop constraint t_pkey; alter table t add primary key (id); alter table t enable row level security',
      )
      await feed.migrate()
      expect(await rights()).toEqual(['usage on schema app'])
      expect(await startUp(bed(), feed)).toEqual(quiet)
    })

    it('follows a declaration: columns that are no longer tracked are not seen any more', async () => {
      await install(
        `create table t (id int primary key deferrable, ${columns}, other int not null unique deferrable)`,
        declared,
      )
      const again = feedOn(bed(), { t: { tenant: null, key: 'other' } }, { captureRole })
      await again.migrate({ redeclare: ['t'] })
      expect(await rights()).toEqual(['select of t.other', 'usage on schema app'])
    })

    it('serves one feed: another is told to name its own, before it takes anything from the first', async () => {
      await install(`create table t (id int primary key deferrable, ${columns}); ${rows}`, declared)
      const other = feedOn(bed(), { t: declared }, { captureRole, schema: 'other' })
      await expect(other.migrate()).rejects.toMatchObject({
        code: 'insufficientRights',
        message: expect.stringMatching(/already: name another .* captureRole/),
      })
      expect(await startUp(bed(), feed)).toEqual(quiet)
      expect(await changesOf(bed(), feed, `update t set id = id + 10 where id = 1`)).toEqual([
        'delete t 1 @acme',
        'create t 11 @acme',
      ])
    })

    it('is not left behind on a table whose name passed to another', async () => {
      await install(
        `create table t (id int primary key deferrable, ${columns}); alter table t enable row level security`,
        declared,
      )
      await bed().sql(`alter table t rename to old; create table t (id int primary key deferrable, ${columns})`)
      await feed.migrate()
      expect(await rights()).toEqual(lookups)
    })
  })
}
