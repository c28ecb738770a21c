import type { ReadAudience } from '../dialect.ts'
import { identifier } from './run.ts'

/**
 * The statements that read the log. Each is one statement, hence one snapshot: positions, floor, maximum and entries belong together.
 *
 * Index use is part of their meaning (docs/decisions/0002-log-indexes.md): `id + 0` is matched by the index (tenant, id + 0) only, and the quoted tenant by
 * (xid, quoted tenant) only, so no statistics, however stale, can tempt the planner to walk the log by its primary key.
 */

/** Entries looked at for one page, before the filter of tables. More for larger limits. */
export const ENTRIES_PER_PAGE = 1000

const quotedTenant = `coalesce('=' || tenant, '')`
const entryColumns = `id + 0 as id, xid, tbl, op, tenant, at, n, keys`

/** Facts about the snapshot and the feed, selected by every read. `$tenant` stands where the tenant audience has its tenant. */
function headColumns(schema: string, audience: ReadAudience['kind'], tenant: string): string {
  const log = `${schema}.log`
  const own = `tenant = ${tenant}`
  const max = {
    tenant: `greatest(coalesce((select max(id + 0) from ${log} where ${own}), 0), coalesce((select max(id + 0) from ${log} where tenant is null), 0))`,
    global: `coalesce((select max(id + 0) from ${log} where tenant is null), 0)`,
    all: `coalesce((select max(id) from ${log}), 0)`,
  }[audience]
  const floorOf = { tenant: `where ${own} or tenant is null`, global: 'where tenant is null', all: '' }[audience]
  // The next id to be handed out: age() of an xid counts up to it in a transaction that has none of its own.
  return `
    pg_current_snapshot()::text as snap,
    age(pg_snapshot_xmax(pg_current_snapshot())::xid)::text as beyond,
    (pg_current_xact_id_if_assigned() is not null)::text as written,
    current_setting('transaction_isolation') as isolation,
    pg_is_in_recovery()::text as recovery,
    (select epoch from ${schema}.state) as epoch,
    (select coalesce(max(pruned_id), 0)::text from ${schema}.floor ${floorOf}) as floor_id,
    (select coalesce(max(pruned_xid), 0)::text from ${schema}.floor ${floorOf}) as floor_xid,
    (${max})::text as max`
}

/** Only the head of a view. Parameters: the tenant, for a tenant's audience. */
export function headStatement(schemaName: string, audience: ReadAudience['kind']): string {
  return `select ${headColumns(identifier(schemaName), audience, '$1::text')}`
}

/**
 * A page. Parameters: 1 high-water mark, 2 its part, 3 tables, 4 limit, 5 entries to look at; then, not draining, 6 list of unsettled
 * xids, 7 and 8 the range of further ones; or, draining, 6 and 7 in-progress list and xmax of the cursor's snapshot, 8 and 9 those of the target's,
 * 10 the entry drained up to, 11 its part; last the tenant, for a tenant's audience.
 */
export function pageStatement(schemaName: string, audience: ReadAudience['kind'], draining: boolean): string {
  const schema = identifier(schemaName)
  const log = `${schema}.log`
  const tenant = draining ? '$12::text' : '$9::text'
  const stragglers = draining ? drainedStragglers(log, audience, tenant) : newStragglers(log, audience, tenant)
  const straggling = list(stragglers, draining ? 'id = $10::int8 + 1' : 'false', draining ? '$11::int4' : '0')
  const fresh = draining ? `select null::text as found, null::text as last, null::text as kept_last, null::text as dropped, null::text as entries` : list(freshEntries(log, audience, tenant), 'id = $1::int8 + 1', '$2::int4')
  return `select ${headColumns(schema, audience, tenant)},
    s.found as s_found, s.last as s_last, s.kept_last as s_kept_last, s.dropped as s_dropped, s.entries as s_entries,
    f.found as f_found, f.last as f_last, f.kept_last as f_kept_last, f.dropped as f_dropped, f.entries as f_entries
  from (${straggling}) s cross join (${fresh}) f`
}

/** The branches of an audience's walk by id: one each for the tenant and the global rows, merged by id. */
function walk(log: string, audience: ReadAudience['kind'], tenant: string, where: (id: string) => string): string {
  if (audience === 'all') {
    return `select id, xid, tbl, op, tenant, at, n, keys from ${log} where ${where('id')} order by id limit $5::int4`
  }
  const branch = (whose: string): string =>
    `(select ${entryColumns} from ${log} where ${whose} and ${where('id + 0')} order by id + 0 limit $5::int4)`
  if (audience === 'global') return branch('tenant is null')
  return `select * from (${branch(`tenant = ${tenant}`)} union all ${branch('tenant is null')}) both_branches order by id limit $5::int4`
}

function freshEntries(log: string, audience: ReadAudience['kind'], tenant: string): string {
  return walk(log, audience, tenant, (id) => `${id} > $1::int8`)
}

function newStragglers(log: string, audience: ReadAudience['kind'], tenant: string): string {
  const whose = {
    tenant: `${quotedTenant} = any (array['=' || ${tenant}, '']) and`,
    global: `${quotedTenant} = any (array['']) and`,
    all: '',
  }[audience]
  const select = `select ${entryColumns} from ${log} where ${whose} id + 0 <= $1::int8`
  return `select * from (
      (${select} and xid = any ($6::xid8[]))
      union all
      (${select} and xid >= $7::xid8 and xid < $8::xid8)
    ) unsettled order by id limit $5::int4`
}

// While draining the stragglers are many: they are walked by id, so that a page costs the page.
function drainedStragglers(log: string, audience: ReadAudience['kind'], tenant: string): string {
  return walk(
    log,
    audience,
    tenant,
    (id) => `${id} > $10::int8 and ${id} <= $1::int8
      and (xid >= $7::xid8 or xid = any ($6::xid8[])) and xid < $8::xid8 and xid <> all ($9::xid8[])`,
  )
}

/**
 * Cuts entries at the limit of changes by a running sum, so that a page of few changes reads few keys. One row: how many entries were
 * found, the last one's id, the last kept one's id, how many wanted ones were dropped by the cut, and the kept ones as JSON.
 */
function list(entries: string, partOf: string, part: string): string {
  return `select count(*)::text as found, max(id)::text as last,
      (max(id) filter (where kept))::text as kept_last,
      (count(*) filter (where wanted and not kept))::text as dropped,
      (json_agg(json_build_array(id::text, xid::text, tbl, op, tenant, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        skip, n, keys[skip + 1 : skip + $4::int4 - before])) filter (where kept))::text as entries
    from (
      select *, wanted and before < $4::int4 as kept
      from (
        select e.*, (sum(case when wanted then n - skip else 0 end) over (order by id rows unbounded preceding) - case when wanted then n - skip else 0 end)::int4 as before
        from (
          select raw.*, tbl = any ($3::int4[]) as wanted, case when ${partOf} then ${part} else 0 end as skip
          from (${entries}) raw
        ) e
      ) summed
    ) cut`
}
