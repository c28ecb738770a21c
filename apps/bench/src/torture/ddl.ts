/* DDL of the tables under torture: an application's, so nothing in it knows of the feed. */

const versioned = 'version integer not null default 1, note text'

const plain: readonly string[] = [
  `create schema app`,
  `create table items (id bigint primary key, tenant_id text not null, project_id integer, ${versioned})`,
  `create index on items (tenant_id, project_id)`,
  `create table app."Order Lines" (day date not null, "Label ""x""" text not null, tenant_id text not null, ${versioned}, primary key (day, "Label ""x"""))`,
  `create table slots (pos integer primary key deferrable initially immediate, tenant_id text not null, ${versioned})`,
  `create table rates (code text primary key, value numeric not null, ${versioned})`,
  `create table drafts (id bigint primary key, tenant_id text not null, ${versioned})`,
  `create table readings (at timestamptz not null, code bytea not null, amount numeric not null, tenant_id text not null, ${versioned}, primary key (at, code, amount))`,
]

/** Partitions of `visits` that are there from the start. */
const partitioned: readonly string[] = [
  `create table visits (day date not null, id bigint not null, tenant_id text not null, ${versioned}, primary key (day, id)) partition by range (day)`,
  `create table visits_early partition of visits for values from ('2024-01-01') to ('2024-01-11')`,
  `create table visits_late partition of visits for values from ('2024-01-11') to ('2024-01-21') partition by hash (id)`,
  `create table visits_late_0 partition of visits_late for values with (modulus 2, remainder 0)`,
  `create table visits_late_1 partition of visits_late for values with (modulus 2, remainder 1)`,
  `create table visits_rest partition of visits default`,
  `create table wallets (tenant_id text not null, id bigint not null, kind text, ${versioned}, primary key (tenant_id, id)) partition by list (tenant_id)`,
  `create table wallets_north partition of wallets for values in ('north')`,
  `create table wallets_east partition of wallets for values in ('east', 'south')`,
  `create table app."wallets ""rest""" partition of wallets default`,
]

/** What every update does to a row, also one that a cascade makes. */
const counting = (table: string): string =>
  `create trigger counting before update on ${table} for each row execute function count_version()`

const cascading: readonly string[] = [
  `create function count_version() returns trigger language plpgsql as $$ begin new.version := old.version + 1; return new; end $$`,
  `create table projects (id bigint primary key, tenant_id text not null, ${versioned}, unique (tenant_id, id))`,
  // A project that moves to another tenant takes its tasks along.
  `create table tasks (id bigint primary key, tenant_id text not null, project_id bigint not null, ${versioned},
    foreign key (tenant_id, project_id) references projects (tenant_id, id) on update cascade on delete cascade)`,
  `create index on tasks (tenant_id, project_id)`,
  `create table comments (id bigint primary key, tenant_id text not null, ${versioned},
    task_id bigint references tasks on update cascade on delete set null,
    about_id bigint references projects on update cascade on delete cascade,
    copied_id bigint references projects on update cascade on delete set null)`,
  `create index on comments (task_id)`,
  `create index on comments (about_id)`,
  `create index on comments (copied_id)`,
  // What foreign keys do to a partitioned table.
  `create table shares (id bigint primary key, tenant_id text not null, ${versioned},
    task_id bigint references tasks on update cascade on delete set null,
    project_id bigint references projects on update cascade on delete cascade) partition by hash (id)`,
  `create table shares_0 partition of shares for values with (modulus 2, remainder 0)`,
  `create table shares_1 partition of shares for values with (modulus 2, remainder 1)`,
  `create index on shares (task_id)`,
  `create index on shares (project_id)`,
  `create table nodes (id bigint primary key, tenant_id text not null, ${versioned}, parent_id bigint references nodes on update cascade on delete cascade)`,
  `create index on nodes (parent_id)`,
  ...['projects', 'tasks', 'comments', 'shares', 'nodes'].map(counting),
]

/**
 * `stock`: each written row is mirrored to `ledger`; one below zero is written again by its own trigger, one of 0 is deleted as soon as it is there, one of 7
 * writes the row before it, which the same statement has written before, if at all.
 */
const nesting: readonly string[] = [
  `create table stock (id bigint primary key, tenant_id text not null, amount integer not null, ${versioned})`,
  `create table ledger (id bigint primary key, tenant_id text not null, amount integer not null, ${versioned})`,
  `create function mirror_stock() returns trigger language plpgsql as $$ begin
    if tg_op = 'DELETE' then
      delete from ledger where id = old.id;
      return null;
    end if;
    insert into ledger (id, tenant_id, amount) values (new.id, new.tenant_id, new.amount)
      on conflict (id) do update set version = ledger.version + 1, tenant_id = excluded.tenant_id, amount = excluded.amount;
    if new.amount < 0 then
      update stock set amount = 100, version = version + 1 where id = new.id;
    elsif tg_op = 'INSERT' and new.amount = 0 then
      delete from stock where id = new.id;
    elsif tg_op = 'INSERT' and new.amount = 7 then
      update stock set amount = 70, version = version + 1 where id = new.id - 1;
    end if;
    return null;
  end $$`,
  `create trigger mirror after insert or update or delete on stock for each row execute function mirror_stock()`,
]

/**
 * `letters`, by the last digit of the id: 3 is never inserted, 4 goes to another tenant, 5 gets another id, 6 is not updated, 7 goes to another tenant with each
 * update, 8 is not deleted, 9 is marked instead of deleted. What a statement wrote is counted in `digests`, and read letters are written once more.
 */
const judging: readonly string[] = [
  `create table letters (id bigint primary key, tenant_id text not null, ${versioned})`,
  `create table digests (id bigint primary key, tenant_id text not null, ${versioned})`,
  `create function judge_letter() returns trigger language plpgsql as $$
  declare digit integer := case when tg_op = 'INSERT' then new.id else old.id end % 10;
  begin
    if tg_op = 'INSERT' then
      if digit = 3 then return null; end if;
      if digit = 4 then new.tenant_id := 'quiet'; end if;
      if digit = 5 then new.id := new.id + 1000000; end if;
      return new;
    elsif tg_op = 'UPDATE' then
      if digit = 6 then return null; end if;
      if digit = 7 then new.tenant_id := case old.tenant_id when 'east' then 'south' else 'east' end; end if;
      new.version := old.version + 1;
      return new;
    end if;
    if digit = 8 then return null; end if;
    if digit = 9 then
      update letters set note = 'deleted' where id = old.id;
      return null;
    end if;
    return old;
  end $$`,
  `create trigger judging before insert or update or delete on letters for each row execute function judge_letter()`,
  `create function digest_letters() returns trigger language plpgsql as $$ begin
    if pg_trigger_depth() > 1 then return null; end if;
    insert into digests (id, tenant_id) select distinct id % 97, 'east' from written order by 1
      on conflict (id) do update set version = digests.version + 1;
    update letters l set note = l.note || '!' from written w where l.id = w.id and w.note like 'read%';
    return null;
  end $$`,
  `create trigger digesting_new after insert on letters referencing new table as written for each statement execute function digest_letters()`,
  `create trigger digesting after update on letters referencing new table as written for each statement execute function digest_letters()`,
]

const MINE = `tenant_id = current_setting('app.tenant', true) or current_setting('app.tenant', true) = '*'`

const secured = (table: string, owner: string): string[] => [
  `create table ${table} (id bigint primary key, tenant_id text not null, ${versioned})`,
  `alter table ${table} enable row level security`,
  `alter table ${table} force row level security`,
  `create policy mine on ${table} using (${MINE})`,
  `alter table ${table} owner to ${owner}`,
]

/** Everything, in order. `owner`: quoted name of the plain role that owns the tables with row security, and nothing else. */
export function ddl(owner: string): readonly string[] {
  return [
    ...plain,
    ...partitioned,
    ...cascading,
    ...nesting,
    ...judging,
    `create role ${owner} nologin`,
    ...secured('vault', owner),
    ...secured('safes', owner),
  ]
}
