import type { ReadAudience } from '../dialect.ts'
import { catalogueVersion } from './catalogue.ts'
import { identifier } from './run.ts'

/**
 * The statements that read the log. Each is one statement, hence one snapshot: positions, floor, maximum and entries belong together.
 *
 * Which index serves which half is part of their meaning (docs/decisions/0002-log-indexes.md). Each half spells the tenant and the id in a way that only
 * its own index matches, so no statistics, however stale, can tempt the planner to walk the log by another one.
 */

/** Entries looked at for one page, before the filter of tables. More for larger limits. */
export const ENTRIES_PER_PAGE = 1000

/**
 * The walk by id, index `log_tenant_id`. Equality with one text, for global rows too: `is null` would cost the index its order. And `id + 0`, lest
 * the primary key be walked.
 */
const walkTenant = {
  own: `coalesce('=' || tenant, '') collate "C" = '=' || $tenant::text`,
  global: `coalesce('=' || tenant, '') collate "C" = ''`,
}
const walkId = 'id + 0'

/** The look-up of stragglers by transaction, index `log_xid_tenant`; sorted afterwards, so the tenant may be spelt as it is. */
const lookUpTenant = { own: `tenant collate "C" = $tenant::text`, global: 'tenant is null' }
const lookUpId = 'id - 0'

type Whose = 'own' | 'global'
const branches = { tenant: ['own', 'global'], global: ['global'] } as const satisfies Record<string, readonly Whose[]>

/** Facts about the snapshot and the feed, selected by every read. */
function headColumns(audience: ReadAudience['kind']): string {
  const maxOf = (whose: Whose): string =>
    `coalesce((select max(${walkId}) from $schema.log where ${walkTenant[whose]}), 0)`
  const max =
    audience === 'all'
      ? `coalesce((select max(id) from $schema.log), 0)`
      : `greatest(${branches[audience].map(maxOf).join(', ')})`
  const floorOf = { tenant: `where tenant = $tenant::text or tenant is null`, global: 'where tenant is null', all: '' }[
    audience
  ]
  // The next id to be handed out: age() of an xid counts up to it in a transaction that has none of its own.
  return `
    pg_current_snapshot()::text as snap,
    age(pg_snapshot_xmax(pg_current_snapshot())::xid)::text as beyond,
    (pg_current_xact_id_if_assigned() is not null)::text as written,
    current_setting('transaction_isolation') as isolation,
    pg_is_in_recovery()::text as recovery,
    (select ${catalogueVersion} from $schema.state) as version,
    (select coalesce(max(pruned_id), 0)::text from $schema.floor ${floorOf}) as floor_id,
    (select coalesce(max(pruned_xid), 0)::text from $schema.floor ${floorOf}) as floor_xid,
    (${max})::text as max`
}

/** Values a read statement may ask for, by the name that stands behind `$` in its text. */
export interface ReadParams {
  /** The audience's tenant. */
  readonly tenant: string
  readonly hw: string
  readonly part: number
  /** Numbers of the wanted tables. */
  readonly tables: string
  /** Changes. */
  readonly limit: number
  /** Entries. */
  readonly lookAt: number
  /** Unsettled xids one by one, and the half-open range of further ones. */
  readonly unsettled: string
  readonly unsettledFrom: string
  readonly unsettledBelow: string
  /** Snapshot of the cursor, and the one it drains to. */
  readonly snapXmax: string
  readonly snapXip: string
  readonly toXmax: string
  readonly toXip: string
  readonly after: string
  readonly afterPart: number
}

/** A statement with its parameters' names in the order of `$1`, `$2`, … */
export interface ReadStatement {
  readonly text: string
  readonly names: readonly (keyof ReadParams)[]
}

/** Only the head of a view: no page is wanted. */
export function headStatement(schema: string, audience: ReadAudience['kind']): ReadStatement {
  return numbered(schema, `select ${headColumns(audience)}`)
}

/**
 * What a page has to look for below the high-water mark: nothing (all had ended), transactions one by one, those and a range of further ones, or what
 * is left of a drain. Most reads find nothing to look for, and planning is most of what a read costs, so each has a text of its own.
 */
export type Stragglers = 'none' | 'listed' | 'ranged' | 'draining'

/** A page behind a cursor. */
export function pageStatement(schema: string, audience: ReadAudience['kind'], stragglers: Stragglers): ReadStatement {
  const text = `select ${headColumns(audience)},
    s.found as s_found, s.last as s_last, s.kept_last as s_kept_last, s.dropped as s_dropped, s.entries as s_entries,
    f.found as f_found, f.last as f_last, f.kept_last as f_kept_last, f.dropped as f_dropped, f.entries as f_entries
  from (${stragglerList(audience, stragglers)}) s cross join (${stragglers === 'draining' ? noList : list(freshEntries(audience), 'id = $hw::int8 + 1', '$part::int4')}) f`
  return numbered(schema, text)
}

function stragglerList(audience: ReadAudience['kind'], stragglers: Stragglers): string {
  switch (stragglers) {
    case 'none':
      return noList
    case 'listed':
      return list(newStragglers(audience, [LISTED]), 'false', '0')
    case 'ranged':
      return list(newStragglers(audience, [LISTED, RANGED]), 'false', '0')
    case 'draining':
      return list(drainedStragglers(audience), 'id = $after::int8 + 1', '$afterPart::int4')
  }
}

/** Replaces `$schema` by the quoted schema and each other `$name` by `$1`, `$2`, … in order of first appearance; in one pass, so no name is read twice. */
function numbered(schema: string, text: string): ReadStatement {
  const names: (keyof ReadParams)[] = []
  const replaced = text.replaceAll(/\$([a-z]\w*)/gi, (_, name: string) => {
    if (name === 'schema') return identifier(schema)
    const known = names.indexOf(name as keyof ReadParams)
    return `$${known === -1 ? names.push(name as keyof ReadParams) : known + 1}`
  })
  return { text: replaced, names }
}

const noList = `select null::text as found, null::text as last, null::text as kept_last, null::text as dropped, null::text as entries`

const columns = 'xid, tbl, op, tenant, at, n, keys'

// A limit the planner does not know: it then counts on a tenth of the entries, and keeps to the ordered walk. Of a known one that is about all there is by the
// statistics, or the guess without any, it would fetch everything by bitmap and sort.
const LOOK_AT = '(select $lookAt::int4)'

/** An audience's entries in order of id: one ordered, limited branch each for the tenant and the global rows, merged. */
function walk(audience: ReadAudience['kind'], where: (id: string) => string): string {
  if (audience === 'all')
    return `select id, ${columns} from $schema.log where ${where('id')} order by id limit ${LOOK_AT}`
  const branch = (whose: Whose): string =>
    `(select ${walkId} as id, ${columns} from $schema.log where ${walkTenant[whose]} and ${where(walkId)}
      order by ${walkId} limit ${LOOK_AT})`
  return `select * from (${branches[audience].map(branch).join(' union all ')}) walked order by id limit ${LOOK_AT}`
}

function freshEntries(audience: ReadAudience['kind']): string {
  return walk(audience, (id) => `${id} > $hw::int8`)
}

// Few, and looked up by their transactions; sorted after they are found. An equality for each tenant keeps it part of the index condition.
const LISTED = 'xid = any ($unsettled::xid8[])'
const RANGED = 'xid >= $unsettledFrom::xid8 and xid < $unsettledBelow::xid8'

function newStragglers(audience: ReadAudience['kind'], unsettled: readonly string[]): string {
  const whose = audience === 'all' ? [''] : branches[audience].map((one) => ` and ${lookUpTenant[one]}`)
  const found = whose.flatMap((theirs) =>
    unsettled.map(
      (xids) =>
        `(select ${lookUpId} as id, ${columns} from $schema.log where ${xids}${theirs} and ${lookUpId} <= $hw::int8)`,
    ),
  )
  return `select * from (${found.join(' union all ')}) unsettled order by id limit $lookAt::int4`
}

// While draining the stragglers are many: they are walked by id, so that a page costs the page. The case keeps the index on xid out of it.
function drainedStragglers(audience: ReadAudience['kind']): string {
  return walk(
    audience,
    (id) => `${id} > $after::int8 and ${id} <= $hw::int8
      and case when (xid >= $snapXmax::xid8 or xid = any ($snapXip::xid8[])) and xid < $toXmax::xid8 and xid <> all ($toXip::xid8[]) then true end`,
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
        skip, n, keys[skip + 1 : skip + $limit::int4 - before])) filter (where kept))::text as entries
    from (
      select *, wanted and before < $limit::int4 as kept
      from (
        select e.*, (sum(case when wanted then n - skip else 0 end) over (order by id rows unbounded preceding) - case when wanted then n - skip else 0 end)::int4 as before
        from (
          select raw.*, tbl = any ($tables::int4[]) as wanted, case when ${partOf} then ${part} else 0 end as skip
          from (${entries}) raw
        ) e
      ) summed
    ) cut`
}
