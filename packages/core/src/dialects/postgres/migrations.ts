import { identifier, literal } from './run.ts'

/** One step of the feed's schema. Released steps are never edited. */
export interface Migration {
  readonly number: number
  readonly name: string
  /** Whether a version that does not know this step must refuse to work on the database. */
  readonly breaking: boolean
  readonly statements: (names: SchemaNames) => readonly string[]
}

/** The names that vary between installations. */
export interface SchemaNames {
  readonly schema: string
  readonly captureRole: string
}

/** All steps in order. */
export const migrations: readonly Migration[] = [
  { number: 1, name: 'create the feed', breaking: true, statements: createFeedSchema },
  {
    number: 2,
    name: 'note table layouts, guard tracked columns, index the log bytewise',
    breaking: false,
    statements: addLayouts,
  },
]

function createFeedSchema({ schema: name, captureRole }: SchemaNames): readonly string[] {
  const schema = identifier(name)
  const role = identifier(captureRole)
  return [
    // One row. The catalogue version counts changes of tracked tables, so that a process can tell whether what it loaded still holds. The epoch names this history of transaction ids; cursors of another epoch are answered by resync.
    `create table ${schema}.state (
      one boolean primary key default true check (one),
      epoch text not null,
      catalogue_version bigint not null default 1
    )`,
    `insert into ${schema}.state (epoch) values (pg_catalog.encode(pg_catalog.substr(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), 1, 6), 'hex'))`,

    // The tables of the feed, as declared when their capture was installed. Rows stay when a table is untracked: numbers are never used again.
    `create table ${schema}.tracked (
      number integer generated always as identity primary key,
      name text not null unique,
      relation oid,
      key_columns jsonb not null,
      tenant_column jsonb,
      scope_columns jsonb not null,
      capture_version integer not null
    )`,

    /* The log (docs/cursor.md, "The log"). xid stands before id on purpose: columns are filled in order, and an id must be handed out after its
       transaction has its xid, or the bound on stragglers would not hold. Global rows have no tenant, table-level entries no keys.
       No check constraints: each statement that appends would have to prepare them anew (about 10 µs). */
    `create table ${schema}.log (
      xid xid8 not null default pg_catalog.pg_current_xact_id(),
      id bigint generated always as identity primary key,
      at timestamptz not null default pg_catalog.clock_timestamp(),
      tbl integer not null,
      n integer not null,
      op "char" not null,
      explicit boolean not null default false,
      tenant text,
      scopes text[],
      keys text[],
      actor text,
      reason text
    )`,
    // Which index serves which half of a read, and why the odd expressions: docs/decisions/0002-log-indexes.md.
    `create index log_tenant_id on ${schema}.log ((coalesce('=' || tenant, '')), (id + 0))`,
    `create index log_xid_tenant on ${schema}.log (xid, (coalesce('!' || tenant, '')))`,

    // The largest id and xid ever pruned, for each tenant; a null tenant stands for the global rows.
    `create table ${schema}.floor (
      tenant text unique nulls not distinct,
      pruned_id bigint not null,
      pruned_xid bigint not null
    )`,

    `create function ${schema}.null_tenant(table_name text, column_name text) returns text language plpgsql
      set search_path = pg_catalog, pg_temp as ${literal(`
begin
  raise exception using errcode = '23502',
    message = pg_catalog.format('tidemark feed %s: table %s was given a row whose tenant column %s is null', ${literal(name)}, table_name, column_name),
    hint = 'Write a tenant, and keep the column NOT NULL. A table without tenants is declared with tenant: null.';
end
`)}`,
    `revoke all on function ${schema}.null_tenant(text, text) from public`,

    // What capture may do, and all it may do.
    `grant usage on schema ${schema} to ${role}`,
    `grant insert on ${schema}.log to ${role}`,
    `grant execute on function ${schema}.null_tenant(text, text) to ${role}`,
  ]
}

function addLayouts({ schema: name }: SchemaNames): readonly string[] {
  const schema = identifier(name)
  return [
    `alter table ${schema}.tracked add column layout jsonb`,
    // The function of a trigger that is never enabled; harmless if somebody enables it.
    `create function ${schema}.guard() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as ${literal(`
begin
  return null;
end
`)}`,
    `revoke all on function ${schema}.guard() from public`,
    // Texts are ordered by their bytes: an index in the order of a locale is silently wrong once the operating system changes that order. And the look-up by
    // transaction does without an expression, which each append would have to prepare (docs/decisions/0002-log-indexes.md).
    `drop index ${schema}.log_tenant_id, ${schema}.log_xid_tenant`,
    `create index log_tenant_id on ${schema}.log ((coalesce('=' || tenant, '') collate "C"), (id + 0))`,
    `create index log_xid_tenant on ${schema}.log (xid, tenant collate "C")`,
    `alter table ${schema}.floor alter column tenant type text collate "C"`,
    `alter table ${schema}.tracked alter column name type text collate "C"`,
  ]
}
