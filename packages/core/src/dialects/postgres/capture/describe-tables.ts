import type { DeclaredTable } from '../../../declaration.ts'
import type { AnyKysely, AnyTransaction, FeedSetup } from '../../dialect.ts'
import type { TypeFacts } from './canonical-text.ts'
import { policyName } from './names.ts'
import { identifier, run } from '../run.ts'

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
  /** Changes when its rows are rewritten. */
  readonly storage: string
  /** Has a parent or children by inheritance, partitions apart. */
  readonly inherits: boolean
  /** At all levels, without the table itself. */
  readonly partitions: readonly PartitionFacts[]
  /** Filled, or a partition of it, by a logical subscription. */
  readonly subscribed: boolean
  /** Enabled AFTER ROW triggers of the app, on the table or a partition. */
  readonly appRowTriggers: readonly string[]
  /** When parents are deleted, one foreign key deletes rows and another one updates them. */
  readonly cascadesBothWays: boolean
  readonly columns: readonly ColumnFacts[]
  /** Each valid, unconditional unique index. */
  readonly uniqueKeys: readonly UniqueKey[]
  /** Row security is on. */
  readonly rowSecurity: boolean
  readonly captureRole: CaptureRoleFacts
}

export interface PartitionFacts {
  readonly oid: string
  /** Another one after each time it was attached. */
  readonly attachment: string
  readonly schema: string
  readonly name: string
  readonly kind: string
  readonly persistence: string
  /** Changes when its rows are rewritten. */
  readonly storage: string
  /** Has the storage it was created with: it was never truncated or rewritten in a later transaction. */
  readonly untouched: boolean
}

export interface UniqueKey {
  readonly columns: readonly string[]
  /** Checked at each row, not at the end of a statement or transaction. */
  readonly immediate: boolean
}

/** What the role that owns the capture functions may see of the table. */
export interface CaptureRoleFacts {
  readonly schemaUsage: boolean
  /** Columns it may select. */
  readonly columns: readonly string[]
  /** Columns that were granted to it one by one. */
  readonly granted: readonly string[]
  /** The policy that shows it all rows is there. */
  readonly policy: boolean
  /** A restrictive policy may hide rows from it all the same. */
  readonly restricted: boolean
}

export interface ColumnFacts {
  readonly number: number
  readonly name: string
  /** Changes with every change of its definition. */
  readonly version: string
  /** And valid: from Postgres 18 on, NOT NULL can be added without looking at the rows that are there. */
  readonly notNull: boolean
  /** `pg_attribute.attgenerated`: '' none, 's' stored, 'v' virtual. */
  readonly generated: string
  /** The base type, behind all domains. */
  readonly type: TypeFacts
  /** The type as declared, with its modifiers and collation: by their identities, since their names read differently on another search_path. */
  readonly identity: string
  /** Hash of a generated column's expression. */
  readonly expression: string | null
  /** Labels by identity, of an enum. */
  readonly labels: Readonly<Record<string, string>> | null
  /** Rows that were there when it was added may hold a value: a default, now or then, an identity, an expression, NOT NULL. */
  readonly filled: boolean
}

/** The SQL name of a declared table; a dot divides schema and table, as in Kysely. */
export function qualifiedName(declared: string): string {
  return declared.split('.').map(identifier).join('.')
}

// Nothing here may lock a table: pg_partition_tree, pg_get_expr and pg_get_triggerdef would.
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
  ), tree(root, oid, level, attachment) as (
    select d.oid, d.oid, 0, '' from declared d where d.oid is not null
    union
    select tree.root, p.oid, tree.level + 1, p.oid || ':' || i.xmin
    from tree join pg_inherits i on i.inhparent = tree.oid join pg_class p on p.oid = i.inhrelid and p.relispartition
  )
  select d.name as declared, (case when c.oid is null then null else json_build_object(
    'oid', c.oid::text, 'schema', n.nspname, 'name', c.relname, 'kind', c.relkind, 'persistence', c.relpersistence,
    'isPartition', c.relispartition, 'storage', c.relfilenode::text, 'rowSecurity', c.relrowsecurity,
    'subscribed', exists (select from pg_subscription_rel s where s.srrelid in (select tree.oid from tree where tree.root = c.oid)),
    'inherits', exists (select from pg_inherits i where (i.inhrelid = c.oid and not c.relispartition) or (i.inhparent = c.oid and c.relkind <> 'p')),
    'partitions', (select coalesce(json_agg(json_build_object('oid', p.oid::text, 'attachment', t.attachment, 'schema', pn.nspname, 'name', p.relname, 'kind', p.relkind, 'persistence', p.relpersistence, 'storage', p.relfilenode::text, 'untouched', p.relfilenode in (p.oid, 0)) order by t.level, p.oid), '[]')
      from tree t join pg_class p on p.oid = t.oid join pg_namespace pn on pn.oid = p.relnamespace where t.root = c.oid and t.oid <> c.oid),
    'appRowTriggers', (select coalesce(json_agg(distinct g.tgname), '[]')
      from pg_trigger g join pg_proc f on f.oid = g.tgfoid join pg_namespace fn on fn.oid = f.pronamespace
      where g.tgrelid in (select tree.oid from tree where tree.root = c.oid)
        and not g.tgisinternal and g.tgenabled <> 'D' and g.tgtype & 1 = 1 and g.tgtype & 66 = 0
        and not (left(g.tgname, length(fn.nspname) + 2) = '!' || fn.nspname || '_' and f.proname ~ '^c[0-9]+_[cud]$')),
    'cascadesBothWays', exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype = 'c')
      and exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confdeltype in ('n', 'd')),
    'columns', (select coalesce(json_agg(json_build_object('number', a.attnum, 'name', a.attname, 'version', a.xmin::text,
        'notNull', a.attnotnull and not exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'n' and not k.convalidated and k.conkey = array[a.attnum]), 'generated', a.attgenerated,
        'type', json_build_object('schema', tn.nspname, 'name', t.typname, 'typtype', t.typtype,
          'deterministicCollation', coalesce((select co.collisdeterministic from pg_collation co where co.oid = a.attcollation), true)),
        'identity', a.atttypid || ':' || a.atttypmod || ':' || a.attcollation,
        'expression', (select encode(sha256(convert_to(ad.adbin::text, 'UTF8')), 'hex') from pg_attrdef ad where ad.adrelid = c.oid and ad.adnum = a.attnum and a.attgenerated <> ''),
        'labels', (select json_object_agg(e.oid, e.enumlabel order by e.oid) from pg_enum e where e.enumtypid = t.oid or (t.typcategory = 'A' and e.enumtypid = t.typelem)),
        'filled', a.atthasdef or a.atthasmissing or a.attnotnull or a.attidentity <> '' or a.attgenerated <> '') order by a.attnum), '[]')
      from pg_attribute a
      join type_of on type_of.asked = a.atttypid and type_of.typtype <> 'd'
      join pg_type t on t.oid = type_of.oid join pg_namespace tn on tn.oid = t.typnamespace
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
    'uniqueKeys', (select coalesce(json_agg(json_build_object('immediate', i.indimmediate, 'columns', (select json_agg(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])))), '[]')
      from pg_index i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null),
    'captureRole', json_build_object(
      'schemaUsage', coalesce(has_schema_privilege(r.oid, n.oid, 'usage'), false),
      'columns', (select coalesce(json_agg(a.attname), '[]') from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.oid, c.oid, a.attnum, 'select')),
      'granted', (select coalesce(json_agg(a.attname), '[]') from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and exists (select from aclexplode(a.attacl) x where x.grantee = r.oid and x.privilege_type = 'SELECT')),
      'policy', exists (select from pg_policy p where p.polrelid = c.oid and p.polname = $3 and p.polpermissive and p.polcmd = 'r' and p.polroles = array[r.oid] and p.polqual::text ~ '^[{]CONST :consttype 16 [^{}]*:constisnull false [^{}]*:constvalue 1 [[][ 0]*1[ 0]*[]][}]$'),
      'restricted', not coalesce(r.rolbypassrls, false) and exists (select from pg_policy p where p.polrelid = c.oid and not p.polpermissive and p.polcmd in ('r', '*')
        and (0 = any (p.polroles) or exists (select from unnest(p.polroles) as o(oid) where o.oid <> 0 and pg_has_role(r.oid, o.oid, 'usage')))))
  ) end)::text as facts
  from declared d left join pg_class c on c.oid = d.oid left join pg_namespace n on n.oid = c.relnamespace left join pg_roles r on r.rolname = $2`

/** Describes the declared tables, by declared name; a table that does not exist is absent. */
export async function describeTables(
  db: AnyKysely | AnyTransaction,
  { schema, captureRole }: Pick<FeedSetup, 'schema' | 'captureRole'>,
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
  const rows = await run<{ declared: string; facts: string | null }>(db, statement, [
    JSON.stringify(asked),
    captureRole,
    policyName(schema),
  ])
  const described = new Map<string, TableFacts>()
  for (const { declared, facts } of rows) if (facts !== null) described.set(declared, JSON.parse(facts) as TableFacts)
  return described
}
