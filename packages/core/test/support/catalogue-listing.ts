import { type Bed, quoted } from './bed.ts'

/** One query for each kind of object; each gives lines. `$schema` stands for the feed's schema. */
const queries: Readonly<Record<string, string>> = {
  tables: `select format('%s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
      case a.attidentity when 'a' then ' generated always as identity' else '' end, coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = $schema and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped order by c.relname, a.attnum`,
  // From 18 on NOT NULL is a constraint too; the columns above say it already.
  constraints: `select format('%s: %s', c.relname, pg_get_constraintdef(k.oid)) as line from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.connamespace = $schema and k.contype <> 'n' order by c.relname, k.conname`,
  indexes: `select pg_get_indexdef(i.indexrelid) as line from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = $schema order by c.relname`,
  sequences: `select format('%s start %s increment %s cache %s%s', c.relname, s.seqstart, s.seqincrement, s.seqcache, case when s.seqcycle then ' cycle' else '' end) as line
    from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.relnamespace = $schema order by c.relname`,
  rights: `select format('%s: %s may %s', o.name, case g.grantee when 0 then 'public' else pg_get_userbyid(g.grantee)::text end, string_agg(lower(g.privilege_type), ', ' order by g.privilege_type)) as line
    from (select 'schema' as name, nspacl as acl, nspowner as owner from pg_namespace where oid = $schema
          union all select 'table ' || relname, relacl, relowner from pg_class where relnamespace = $schema and relkind = 'r'
          union all select 'function ' || proname, coalesce(proacl, acldefault('f', proowner)), proowner from pg_proc where pronamespace = $schema) o, aclexplode(o.acl) g
    where g.grantee <> o.owner group by o.name, g.grantee order by o.name, g.grantee`,
  lookups: `select line from (
      select format('%s may select %s.%s', pg_get_userbyid(g.grantee)::text, a.attrelid::regclass, a.attname) as line from pg_attribute a, aclexplode(a.attacl) g
      where exists (select from pg_trigger t join pg_proc p on p.oid = t.tgfoid where t.tgrelid = a.attrelid and p.pronamespace = $schema)
      union all select format('policy %s on %s for %s: %s', p.polname, p.polrelid::regclass, (select string_agg(pg_get_userbyid(r), ', ') from unnest(p.polroles) r), pg_get_expr(p.polqual, p.polrelid)) from pg_policy p
      where exists (select from pg_trigger t join pg_proc f on f.oid = t.tgfoid where t.tgrelid = p.polrelid and f.pronamespace = $schema)) found order by line`,
  triggers: `select format('%s %s on %s: %s', t.tgname, case t.tgenabled when 'A' then 'enabled always' else t.tgenabled::text end, t.tgrelid::regclass, regexp_replace(pg_get_triggerdef(t.oid), '^.* (AFTER|BEFORE) ', '\\1 ')) as line
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid where p.pronamespace = $schema and not t.tgisinternal order by t.tgrelid::regclass::text, t.tgname`,
  functions: `select format(E'%s(%s) returns %s, %s, %s, %s, owned by %s%s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname,
      case when p.prosecdef then 'security definer' else 'security invoker' end, array_to_string(p.proconfig, '; '), pg_get_userbyid(p.proowner), p.prosrc) as line
    from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = $schema order by p.proname`,
}

/** Everything the feed has put into the database, as text that is the same on every version, under every schema name and installer. */
export async function catalogueListing(bed: Bed): Promise<string> {
  const [installer] = await bed.sql('select current_user::text as name')
  const parts: string[] = []
  for (const [kind, query] of Object.entries(queries)) {
    const rows = await bed.sql(query.replaceAll('$schema', `'${quoted(bed.feedSchema)}'::regnamespace`))
    parts.push(`== ${kind}\n${rows.map(({ line }) => String(line)).join('\n')}\n`)
  }
  return parts
    .join('\n')
    .replaceAll(quoted(bed.feedSchema), 'tidemark')
    .replaceAll(bed.feedSchema, 'tidemark')
    .replaceAll(`owned by ${String(installer?.['name'])}`, 'owned by the installer')
    .replaceAll(/\b[0-9]+::pg_catalog\.oid/g, 'its oid')
    .replaceAll(/[ \t]+$/gm, '')
}
