import { beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture, feedOn, quoted } from '../support/bed.ts'
import { changesSince, now } from '../support/changes.ts'
import { withRole } from '../support/roles.ts'

/** What a role that may only write its own tables can do to the feed: nothing (docs/capture.md, rules 1 to 3). */
export function attacks(bed: () => Bed): void {
  const schema = (): string => quoted(bed().feedSchema)

  describe('a writer with rights on its own table only', () => {
    beforeEach(() => bed().reset())
    let feed: AnyFeed
    beforeEach(async () => {
      feed = await capture(
        bed(),
        // Its keys are checked late, so freed ones are looked up in the table.
        `create table tasks (id int primary key deferrable, tenant_id text not null, project int, v text); insert into tasks values (1, 'acme', 1), (2, 'acme', null)`,
        {
          tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project'] },
        },
      )
    })
    /** Runs statements as the writer; returns what the feed then tells. */
    const toldOf = async (role: string, ...statements: readonly string[]): Promise<string[]> => {
      const since = await now(feed)
      {
        await using session = await bed().session({ role })
        for (const statement of statements) await session.sql(statement)
      }
      return await changesSince(feed, since)
    }
    const writer = { app: 'usage', tasks: 'select, insert, update, delete, truncate' }

    it('writes, and is captured', async () => {
      await using role = await withRole(bed(), writer)
      expect(
        await toldOf(
          role.name,
          `insert into tasks values (3, 'bolt')`,
          `update tasks set v = 'x' where id = 1`,
          `delete from tasks where id = 2`,
          'truncate tasks',
        ),
      ).toEqual(['create tasks 3 @bolt', 'update tasks 1 @acme', 'delete tasks 2 @acme', 'invalidate tasks *'])
    })

    it('is captured even if it owns the table and may not read it, and where row security shows it nothing', async () => {
      await using role = await withRole(bed(), { app: 'usage' })
      await bed().sql(
        `alter table tasks owner to ${quoted(role.name)}; revoke select on tasks from ${quoted(role.name)}; alter table tasks enable row level security, force row level security; create policy blind on tasks for insert with check (true)`,
      )
      {
        await using session = await bed().session({ role: role.name })
        await expect(session.sql('select * from tasks')).rejects.toMatchObject({ code: '42501' })
      }
      await feed.migrate()
      expect(
        await toldOf(
          role.name,
          `insert into tasks values (3, 'bolt', 7)`,
          `insert into tasks values (4, 'acme', 7), (5, 'acme', 7)`,
        ),
      ).toEqual(['create tasks 3 @bolt', 'create tasks 4 @acme', 'create tasks 5 @acme'])
      await bed().sql(`alter table tasks owner to current_user`)
    })

    it("gets 42501 for everything that is the feed's", async () => {
      await using role = await withRole(bed(), writer)
      const names = ['log', 'state', 'tracked', 'floor', 'migration']
      const attempts = [
        ...names.flatMap((name) => [
          `select * from ${schema()}.${name}`,
          `delete from ${schema()}.${name}`,
          `truncate ${schema()}.${name}`,
          `drop table ${schema()}.${name}`,
        ]),
        `insert into ${schema()}.log (tbl, op, n, tenant, keys) values (1, 'd', 1, 'bolt', '{7}')`,
        `update ${schema()}.log set tenant = 'bolt'`,
        `select ${schema()}.null_tenant('a', 'b')`,
        `create table ${schema()}.mine (id int)`,
        `set role ${quoted(`${bed().feedSchema}_capture`)}`,
        `alter table tasks disable trigger all`,
        `drop trigger ${quoted(`!${bed().feedSchema}_u`)} on tasks`,
      ]
      for (const attempt of attempts) {
        await using session = await bed().session({ role: role.name })
        await expect(session.sql(attempt), attempt).rejects.toMatchObject({ code: '42501' })
      }
    })

    it('cannot attach a capture function to a table of its own, not even when it may look into the schema', async () => {
      await using role = await withRole(bed(), writer)
      await bed().sql(
        `create table mine (id int primary key, tenant_id text, project int, v text); alter table mine owner to ${quoted(role.name)}`,
      )
      for (const usage of [false, true]) {
        if (usage) await bed().sql(`grant usage on schema ${schema()} to ${quoted(role.name)}`)
        for (const operation of ['c', 'u', 'd', 't']) {
          await using session = await bed().session({ role: role.name })
          const forge = `create trigger forged after insert on app.mine for each statement execute function ${schema()}.c1_${operation}()`
          await expect(session.sql(forge)).rejects.toMatchObject({ code: '42501' })
        }
      }
    })

    it('is not misled, nor misleads, by operators, functions and tables of its own', async () => {
      await using role = await withRole(bed(), writer)
      const lie = (name: string, type: string): string =>
        `create function evil.${name}_${type}(${type}, ${type}) returns boolean language sql immutable as 'select false'; `
      const operators = ['int4', 'text', 'bool', 'int8'].flatMap((type) => [
        lie('eq', type),
        ...['=', '<>', '<', '>', '<=', '>='].map(
          (operator) =>
            `create operator evil.${operator} (function = evil.eq_${type}, leftarg = ${type}, rightarg = ${type});`,
        ),
      ])
      await bed().sql(`drop schema if exists evil cascade; create schema evil authorization ${quoted(role.name)}`)
      const since = await now(feed)
      {
        await using session = await bed().session({ role: role.name })
        // Open to everyone, or the role that owns the capture functions would pass it by.
        await session.sql(`grant usage on schema evil to public; ${operators.join(' ')}
          create function evil.same(record, record) returns boolean language plpgsql immutable as 'begin return false; end';
          create operator evil.*<> (function = evil.same, leftarg = record, rightarg = record);
          create function evil.strpos(text, text) returns int language sql as 'select 1/0';
          create function evil.concat(text) returns text language sql as 'select ''forged''';
          create function evil.coalesce(text, text) returns text language sql as 'select ''forged''';
          create table evil.tasks (like app.tasks); insert into evil.tasks values (4, 'bolt', 4); create temp table tasks (like app.tasks); insert into pg_temp.tasks values (4, 'bolt', 4);
          create table evil.log (like app.tasks); create table evil.tidemark_o (like app.tasks); create table evil.tidemark_n (like app.tasks);
          create temp table tidemark_n (like app.tasks); create temp table tidemark_o (like app.tasks); create temp table log (like app.tasks);
          insert into tidemark_n values (99, 'bolt', 99); insert into evil.tidemark_o values (98, 'bolt', 99);
          set search_path = evil, pg_temp, app, pg_catalog`)
        await session.sql(`insert into app.tasks values (3, 'bolt', 3)`)
        await session.sql(`insert into app.tasks values (4, 'bolt', 4), (5, 'bolt', 5)`)
        await session.sql(`update app.tasks set v = 'x'`)
        await session.sql(`update app.tasks set v = 'y' where id operator(pg_catalog.=) 1`)
        await session.sql(`update app.tasks set v = v`)
        await session.sql(`update app.tasks set id = 44 where id operator(pg_catalog.=) 4`)
        await session.sql(`update app.tasks set project = 9 where id operator(pg_catalog.=) 3`)
        await session.sql(`delete from app.tasks`)
        await session.sql('drop table pg_temp.tidemark_n, pg_temp.tidemark_o, pg_temp.log, pg_temp.tasks')
      }
      const told = await changesSince(feed, since)
      const all = ['1 @acme', '2 @acme', '3 @bolt', '4 @bolt', '5 @bolt']
      expect(told.slice(0, 3).toSorted()).toEqual([
        'create tasks 3 @bolt',
        'create tasks 4 @bolt',
        'create tasks 5 @bolt',
      ])
      expect(told.slice(3, 8).toSorted()).toEqual(all.map((key) => `update tasks ${key}`))
      expect(told.slice(8, 13)).toEqual([
        'update tasks 1 @acme',
        'delete tasks 4 @bolt',
        'create tasks 44 @bolt',
        'delete tasks 3 @bolt',
        'create tasks 3 @bolt',
      ])
      expect(told.slice(13).toSorted()).toEqual(
        ['1 @acme', '2 @acme', '3 @bolt', '44 @bolt', '5 @bolt'].map((key) => `delete tasks ${key}`),
      )
      expect(await bed().sql('select count(*)::int as n from evil.log')).toEqual([{ n: 0 }])
      await bed().sql('drop schema evil cascade')
    })
  })

  it('casts that the owner of a type made do not run with the rights of capture', async () => {
    await bed().reset()
    await using role = await withRole(bed(), { app: 'all' })
    await bed().sql('create table app.spied (who text); grant insert on app.spied to public')
    {
      await using session = await bed().session({ role: role.name })
      await session.sql(`create type app.mood as enum ('good', 'bad'); create domain app.feeling as app.mood; create domain app.day as date;
        create function app.spy(app.mood) returns text language plpgsql as $f$ begin insert into app.spied values (current_user); return 'forged'; end $f$;
        create function app.spy_json(app.mood) returns json language plpgsql as $f$ begin insert into app.spied values (current_user); return '"forged"'; end $f$;
        create cast (app.mood as text) with function app.spy(app.mood) as implicit;
        create cast (app.mood as json) with function app.spy_json(app.mood);
        create function app.spy_equal(app.mood, app.mood) returns boolean language plpgsql as $f$ begin insert into app.spied values (current_user); return true; end $f$;
        create operator app.= (function = app.spy_equal, leftarg = app.mood, rightarg = app.mood);
        create table app.moods (v app.mood, f app.feeling, d app.day not null, n int, w int, primary key (v, f) deferrable)`)
    }
    const feed = feedOn(bed(), { 'app.moods': { tenant: 'v', key: ['v', 'f'], scopes: ['f', 'd'] } })
    await feed.migrate()
    const since = await now(feed)
    {
      await using session = await bed().session({ role: role.name })
      await session.sql(
        `insert into app.moods values ('good', 'bad', '2024-01-01', 1), ('bad', 'bad', '2024-01-01', 2)`,
      )
      await session.sql(`update app.moods set w = 1`)
      await session.sql(`update app.moods set f = 'good' where n = 2`)
      await session.sql(`delete from app.moods where n = 1`)
    }
    const told = await changesSince(feed, since)
    expect(told.join()).not.toContain('forged')
    expect(told.slice(-3)).toEqual([
      'delete app.moods ["bad","bad"] @bad',
      'create app.moods ["bad","good"] @bad',
      'delete app.moods ["good","bad"] @good',
    ])
    expect(await bed().sql('select who from app.spied')).toEqual([])
    await bed().sql('drop schema app cascade')
  })

  describe('the capture role', () => {
    beforeEach(() => bed().reset())
    const late = { tenant: 'tenant_id', key: 'id', scopes: ['project'] } as const
    const declared = { tasks: { tenant: 'tenant_id', key: 'id' }, late } as const
    const ddl = `create table tasks (id int primary key, tenant_id text not null, secret text);
      create table late (id int primary key deferrable, tenant_id text not null, project int, secret text)`

    it('can neither log in nor do anything but append, and see the tracked columns where it looks keys up', async () => {
      await capture(bed(), ddl, declared)
      const role = `${bed().feedSchema}_capture`
      expect(
        await bed().sql(
          `select rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, exists (select from pg_auth_members m where m.member = r.oid) as member_of_any from pg_roles r where rolname = '${role}'`,
        ),
      ).toEqual([
        {
          rolcanlogin: false,
          rolsuper: false,
          rolcreatedb: false,
          rolcreaterole: false,
          rolreplication: false,
          rolbypassrls: false,
          member_of_any: false,
        },
      ])
      const rights = await bed().sql(
        `select c.relname || ' ' || p as right from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
         where c.relkind in ('r', 'S') and c.relnamespace in (${[bed().feedSchema, 'app'].map((name) => `'${quoted(name)}'::regnamespace`).join(', ')})
           and case when c.relkind = 'r' then has_table_privilege('${role}', c.oid, p) else has_sequence_privilege('${role}', c.oid, 'usage, select, update') end`,
      )
      expect(rights).toEqual([{ right: 'log insert' }])
      const columns = await bed().sql(
        `select c.relname || '.' || a.attname || ' ' || p as right from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped, unnest(array['select', 'insert', 'update', 'references']) p
         where c.relkind = 'r' and c.relnamespace in (${[bed().feedSchema, 'app'].map((name) => `'${quoted(name)}'::regnamespace`).join(', ')})
           and has_column_privilege('${role}', c.oid, a.attnum, p) and not has_table_privilege('${role}', c.oid, p) order by 1`,
      )
      expect(columns).toEqual(['id', 'project', 'tenant_id'].map((column) => ({ right: `late.${column} select` })))
      const [schemas] = await bed().sql(
        `select has_schema_privilege('${role}', '${bed().feedSchema}', 'create') as feed_create, has_schema_privilege('${role}', 'app', 'usage') as app_usage, has_schema_privilege('${role}', 'app', 'create') as app_create`,
      )
      expect(schemas).toEqual({ feed_create: false, app_usage: true, app_create: false })
    })

    it('owns functions that run with its rights, under a fixed path, and that nobody else may execute', async () => {
      await capture(bed(), ddl, declared)
      expect(
        await bed().sql(
          `select proname::text, prosecdef, proconfig[1] as path, coalesce('row_security=on' = any (proconfig), false) as all_rows, pg_get_userbyid(proowner)::text as owner, has_function_privilege('public', p.oid, 'execute') as public from pg_proc p where pronamespace = '${schema()}'::regnamespace and proname ~ '^c[12]_' order by 1`,
        ),
      ).toEqual(
        ['c1_c', 'c1_d', 'c1_t', 'c1_u', 'c2_c', 'c2_d', 'c2_t', 'c2_u'].map((proname) => ({
          proname,
          prosecdef: true,
          path: 'search_path=pg_catalog, pg_temp',
          // Where keys are looked up, a writer's row_security = off would make that an error.
          all_rows: proname === 'c2_d' || proname === 'c2_u',
          owner: `${bed().feedSchema}_capture`,
          public: false,
        })),
      )
    })

    it('may not be a superuser', async () => {
      await bed().sql(ddl)
      const feed = feedOn(bed(), declared, { captureRole: 'postgres' })
      await expect(feed.migrate()).rejects.toMatchObject({
        code: 'insufficientRights',
        message: expect.stringContaining('"postgres" is a superuser'),
      })
      expect(await bed().sql(`select to_regnamespace('${schema()}') is null as nothing`)).toEqual([{ nothing: true }])
    })

    it('can be named', async () => {
      await bed().sql(`drop role if exists "Tidemark Test"; ${ddl}`)
      const feed = feedOn(bed(), declared, { captureRole: 'Tidemark Test' })
      await feed.migrate()
      expect(await feed.verify()).toEqual([])
      expect(
        await bed().sql(
          `select distinct pg_get_userbyid(proowner)::text as owner from pg_proc where pronamespace = '${schema()}'::regnamespace and proname like 'c1_%'`,
        ),
      ).toEqual([{ owner: 'Tidemark Test' }])
      await bed().sql(`drop schema ${schema()} cascade; drop owned by "Tidemark Test"; drop role "Tidemark Test"`)
    })
  })
}
