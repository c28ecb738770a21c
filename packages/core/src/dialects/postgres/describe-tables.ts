import type { DeclaredTable } from '../../declaration.ts'
import type { AnyKysely, AnyTransaction } from '../dialect.ts'
import type { TypeFacts } from './canonical-text.ts'
import { identifier, run } from './run.ts'

/** What the database's catalogue says of a declared table. */
export interface TableFacts {
  readonly oid: string
  readonly schema: string
  readonly name: string
  /** `pg_class.relkind`. */
  readonly kind: string
  /** `pg_class.relpersistence`. */
  readonly persistence: string
  readonly isPartition: boolean
  readonly inherits: boolean
  /** Filled by a logical subscription. */
  readonly subscribed: boolean
  readonly columns: readonly ColumnFacts[]
  /** Column names of each valid, unconditional unique index. */
  readonly uniqueKeys: readonly (readonly string[])[]
}

export interface ColumnFacts {
  readonly name: string
  /** And valid: from Postgres 18 on, NOT NULL can be added without looking at the rows that are there. */
  readonly notNull: boolean
  /** `pg_attribute.attgenerated`: '' none, 's' stored, 'v' virtual. */
  readonly generated: string
  /** The base type, behind all domains. */
  readonly type: TypeFacts
}

/** The SQL name of a declared table; a dot divides schema and table, as in Kysely. */
export function qualifiedName(declared: string): string {
  return declared.split('.').map(identifier).join('.')
}

// Unqualified names are resolved as the connection's own SQL would resolve them; qualified ones also where this role may not use the schema. Types are followed through domains to their base.
const statement = `
  with recursive declared as (
    select d.name, case when d.schema_name is null then to_regclass(d.sql_name)::oid
      else (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = d.schema_name and c.relname = d.table_name) end as oid
    from json_to_recordset($1::json) as d(name text, sql_name text, schema_name text, table_name text)
  ), type_of(asked, oid, typtype, typbasetype) as (
    select t.oid, t.oid, t.typtype, t.typbasetype from pg_type t
    where t.oid in (select a.atttypid from pg_attribute a where a.attrelid in (select oid from declared))
    union all
    select type_of.asked, t.oid, t.typtype, t.typbasetype from type_of join pg_type t on t.oid = type_of.typbasetype where type_of.typtype = 'd'
  )
  select d.name as declared, (case when c.oid is null then null else json_build_object(
    'oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind, 'persistence', c.relpersistence,
    'isPartition', c.relispartition,
    'subscribed', exists (select from pg_subscription_rel s where s.srrelid = c.oid),
    'inherits', exists (select from pg_inherits i where i.inhrelid = c.oid or i.inhparent = c.oid),
    'columns', (select coalesce(json_agg(json_build_object('name', a.attname,
        'notNull', a.attnotnull and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'n' and not k.convalidated and k.conkey = array[a.attnum]), 'generated', a.attgenerated,
        'type', json_build_object('schema', tn.nspname, 'name', t.typname, 'typtype', t.typtype,
          'deterministicCollation', coalesce((select co.collisdeterministic from pg_collation co where co.oid = a.attcollation), true))) order by a.attnum), '[]')
      from pg_attribute a
      join type_of on type_of.asked = a.atttypid and type_of.typtype <> 'd'
      join pg_type t on t.oid = type_of.oid join pg_namespace tn on tn.oid = t.typnamespace
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
    'uniqueKeys', (select coalesce(json_agg((select json_agg(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1]))), '[]')
      from pg_index i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null)
  ) end)::text as facts
  from declared d left join pg_class c on c.oid = d.oid left join pg_namespace n on n.oid = c.relnamespace`

/** Describes the declared tables, by declared name; a table that does not exist is absent. */
export async function describeTables(
  db: AnyKysely | AnyTransaction,
  tables: Iterable<DeclaredTable>,
): Promise<Map<string, TableFacts>> {
  const asked = [...tables].map(({ name }) => {
    const [first, second] = name.split('.')
    return {
      name,
      sql_name: qualifiedName(name),
      schema_name: second === undefined ? null : first,
      table_name: second ?? first,
    }
  })
  const rows = await run<{ declared: string; facts: string | null }>(db, statement, [JSON.stringify(asked)])
  const described = new Map<string, TableFacts>()
  for (const { declared, facts } of rows) if (facts !== null) described.set(declared, JSON.parse(facts) as TableFacts)
  return described
}
