import type { AnyKysely, AnyTransaction, CataloguedColumn } from '../../dialect.ts'
import { identifier, run } from '../run.ts'
import type { CapturedColumn } from './plan-capture.ts'
import type { TableLayout } from './table-layout.ts'

/** A tracked table as the feed's catalogue and the database's catalogue hold it. */
export interface Tracked {
  readonly number: number
  readonly name: string
  /** `null` once untracked. */
  readonly relation: string | null
  /** Whether the relation is still there. */
  readonly exists: boolean
  readonly key: readonly CataloguedColumn[]
  readonly tenant: CataloguedColumn | null
  readonly scopes: readonly CataloguedColumn[]
  readonly captureVersion: number
  /** `null` when an older version installed the capture. */
  readonly layout: TableLayout | null
  /** The feed's triggers on the table and on its partitions. */
  readonly triggers: readonly TriggerFacts[]
}

/** A trigger of the feed as the database's catalogue holds it. */
export interface TriggerFacts {
  readonly relation: string
  readonly name: string
  /** Made by Postgres on a partition, after the parent's. */
  readonly copy: boolean
  readonly enabled: string
  readonly type: number
  /** Has a condition. */
  readonly conditional: boolean
  /** The condition is that the row changed. */
  readonly ifChanged: boolean
  readonly columns: readonly number[]
  readonly oldTable: string | null
  readonly newTable: string | null
  readonly function: string
  readonly bodyHash: string
  readonly definer: boolean
  readonly config: readonly string[] | null
  readonly owner: string
  readonly publicMayExecute: boolean
}

/** Reads all tracked tables with their triggers as they are now. */
export async function inspectTracked(db: AnyKysely | AnyTransaction, schema: string): Promise<Tracked[]> {
  const rows = await run<{ facts: string }>(
    db,
    `with recursive tree(root, oid) as (
       select t.relation, t.relation from ${identifier(schema)}.tracked t where t.relation is not null
       union
       select tree.root, p.oid from tree join pg_inherits i on i.inhparent = tree.oid join pg_class p on p.oid = i.inhrelid and p.relispartition
     )
     select json_build_object('number', t.number, 'name', t.name, 'relation', t.relation::text, 'key', t.key_columns, 'tenant', t.tenant_column,
       'scopes', t.scope_columns, 'captureVersion', t.capture_version, 'layout', t.layout,
       'exists', exists (select from pg_class c where c.oid = t.relation),
       'triggers', (select coalesce(json_agg(json_build_object('relation', g.tgrelid::text, 'name', g.tgname, 'copy', g.tgparentid <> 0, 'enabled', g.tgenabled, 'type', g.tgtype,
           'conditional', g.tgqual is not null,
           'ifChanged', coalesce(g.tgqual::text ~ ('^[{]OPEXPR :opno ' || 'pg_catalog.*<>(pg_catalog.record,pg_catalog.record)'::regoperator::oid || ' [^{}]*:args [(][{]VAR :varno 1 :varattno 0 [^{}]*[}] [{]VAR :varno 2 :varattno 0 [^{}]*[}][)] :location -?[0-9]+[}]$'), false),
           'columns', coalesce((select json_agg(a.n order by a.n) from unnest(g.tgattr::int2[]) as a(n)), '[]'), 'oldTable', g.tgoldtable, 'newTable', g.tgnewtable,
           'function', n.nspname || '.' || p.proname, 'bodyHash', encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 'definer', p.prosecdef, 'config', p.proconfig,
           'owner', pg_get_userbyid(p.proowner), 'publicMayExecute', has_function_privilege('public', p.oid, 'execute'))), '[]')
         from pg_trigger g join pg_proc p on p.oid = g.tgfoid join pg_namespace n on n.oid = p.pronamespace
         where (g.tgrelid in (select tree.oid from tree where tree.root = t.relation)
             or g.tgrelid::text in (select split_part(noted, ':', 1) from json_array_elements_text((t.layout -> 'partitions')::json) noted))
           and not g.tgisinternal and n.nspname = $1))::text as facts
     from ${identifier(schema)}.tracked t order by t.number`,
    [schema],
  )
  return rows.map(({ facts }) => JSON.parse(facts) as Tracked)
}

/** What the catalogue keeps of a column. */
export function catalogued({ name, castTo, kind }: CapturedColumn): CataloguedColumn {
  return { name, castTo, kind }
}
