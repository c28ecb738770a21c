import { beforeAll, describe, expect, it } from 'vitest'
import { type AnyFeed, type Bed, capture } from '../support/bed.ts'
import { entriesOf, type LoggedEntry } from '../support/changes.ts'

/** What a session may set that changes how statements are planned, read or written. */
const settings: readonly string[] = [
  'enable_seqscan = off',
  'enable_indexscan = off',
  'enable_bitmapscan = off',
  'enable_hashjoin = off',
  'enable_mergejoin = off',
  'enable_nestloop = off',
  'enable_hashagg = off',
  'enable_sort = off',
  'enable_material = off',
  'enable_memoize = off',
  'enable_parallel_append = off',
  'enable_partition_pruning = off',
  'plan_cache_mode = force_generic_plan',
  'plan_cache_mode = force_custom_plan',
  'jit = on; set jit_above_cost = 0; set jit_inline_above_cost = 0; set jit_optimize_above_cost = 0',
  'max_parallel_workers_per_gather = 0',
  'debug_parallel_query',
  `work_mem = '64kB'`,
  'from_collapse_limit = 1; set join_collapse_limit = 1; set geqo_threshold = 2',
  'standard_conforming_strings = off; set escape_string_warning = on; set backslash_quote = on',
  'array_nulls = off',
  'transform_null_equals = on',
  'quote_all_identifiers = on',
  'row_security = off',
  'check_function_bodies = off',
  'session_replication_role = replica',
  `default_transaction_isolation = 'serializable'`,
  `default_transaction_isolation = 'repeatable read'`,
  `datestyle = 'German'; set intervalstyle = 'sql_standard'; set timezone = 'Pacific/Chatham'; set bytea_output = 'escape'; set extra_float_digits = -15`,
  `client_encoding = 'latin1'`,
  `lc_numeric = 'C'; set lc_monetary = 'C'`,
  'search_path = pg_catalog',
  `search_path = ''`,
  'synchronous_commit = off',
  `default_toast_compression = 'pglz'`,
  'plpgsql.variable_conflict = use_column',
  'plpgsql.check_asserts = off',
  `plpgsql.extra_errors = 'all'`,
]

/** The same statements leave the same entries, whatever the session has set (docs/capture.md, "Facts"). */
export function sessionSettings(bed: () => Bed): void {
  describe('a session with', () => {
    const writes = [
      `insert into app.t (id, org, scope, at) values (1, 'acme', 1, '2024-03-10 02:30+00')`,
      `insert into app.t (id, org, scope, at) select g, substr('ab', g % 2 + 1, 1), nullif(g % 3, 0), null from pg_catalog.generate_series(2, 9) g`,
      `update app.t set v = 'x' where id = 1`,
      `update app.t set v = v`,
      `update app.t set v = 'y'`,
      `update app.t set id = id + 1`,
      `update app.t set org = 'bolt', scope = null where id > 6`,
      `merge into app.t using (values (3), (99)) s(id) on t.id = s.id when matched then delete when not matched then insert (id, org) values (s.id, 'acme')`,
      `insert into app.t (id, org) values (101, 'acme'), (102, 'acme') on conflict (code) do nothing`,
      `delete from app.t where id < 6`,
      `delete from app.t`,
    ]
    const open = async (more = ''): Promise<AnyFeed> => {
      await bed().reset()
      return await capture(
        bed(),
        `create table t (id int not null unique deferrable initially immediate, org text not null, scope int, code int unique, v text, at timestamptz); ${more}`,
        { t: { tenant: 'org', key: 'id', scopes: ['scope', 'at'] } },
      )
    }
    /** What each statement appends; among equals the order may differ. */
    const entries = async (setting: string | null): Promise<string[][]> => {
      await using session = await bed().session(setting === null ? {} : { setup: `set ${setting}` })
      const on = { ...bed(), sql: (statement: string) => session.sql(statement) }
      const flat = ({ op, tenant, scopes, keys }: LoggedEntry): string[] =>
        (keys ?? []).map((key) => `${op} ${tenant} ${JSON.stringify(scopes)} ${key}`)
      const found: string[][] = []
      for (const write of writes) found.push((await entriesOf(on, write)).flatMap(flat).toSorted())
      return found
    }
    let expected: string[][]
    beforeAll(async () => {
      await open()
      expected = await entries(null)
    })

    it('nothing set: the statements tell something, and the one that changes nothing does not', () => {
      expect(expected.map((list) => list.length)).toEqual([1, 8, 1, 0, 9, 18, 8, 2, 2, 3, 8])
    })

    it.each(settings.map((setting) => [setting]))('%s', async (setting) => {
      const assigned = setting === 'debug_parallel_query' ? forcedParallel(bed()) : setting
      await bed().sql('delete from app.t')
      expect(await entries(assigned)).toEqual(expected)
    })

    it('row_security = off, behind row security: restore tools set it', async () => {
      await open('alter table t enable row level security, force row level security')
      expect(await entries('row_security = off')).toEqual(expected)
    })
  })
}

/** This setting's name changed with Postgres 16. */
function forcedParallel(bed: Bed): string {
  return bed.major >= 16 ? 'debug_parallel_query = regress' : 'force_parallel_mode = regress'
}
