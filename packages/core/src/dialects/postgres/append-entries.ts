import { InvalidInputError, NotMigratedError } from '../../errors.ts'
import type { AnyTransaction, CataloguedColumn, ExplicitEntry, FeedSetup } from '../dialect.ts'
import { KEYS_PER_ENTRY } from '../../log-limits.ts'
import { canonicalKey, canonicalTextOfGiven } from './capture/canonical-text.ts'
import { hasLabels } from './capture/enum-labels.ts'
import { identifier, isDataException, isMissingObject, run } from './run.ts'

const operationCodes = { create: 'c', update: 'u', delete: 'd', invalidate: 'i' } as const

/**
 * Appends explicit entries in the caller's transaction. Such entries hold no row lock, so their place among others proves nothing; they are
 * marked, so that compaction never trusts their order.
 */
export async function appendEntries(
  setup: FeedSetup,
  trx: AnyTransaction,
  entries: readonly ExplicitEntry[],
  note: { readonly reason: string | null; readonly actor: string | null },
): Promise<{ tx: string; changes: number }> {
  const log = `${identifier(setup.schema)}.log`
  let changes = 0
  for (const entry of entries) {
    const { table, keys, scopes } = entry
    await requireLabels(trx, entry)
    const scopeTexts =
      scopes === null
        ? 'null::text[]'
        : `array[${table.scopes.map((c, i) => canonicalTextOfGiven(`($8::json ->> ${i})`, c)).join(', ')}]::text[]`
    const shared = [table.number, operationCodes[entry.operation], entry.tenant, note.actor, note.reason]
    const keyText = canonicalKey(table.key.map((c, i) => canonicalTextOfGiven(`(given.parts ->> ${i})`, c)))
    // The key list is read by the same statement whether or not there are keys: parameters keep their places.
    const source =
      keys === null
        ? `select 1 as n, null::text[] as keys where $6::text is null and $7::int4 > 0`
        : `select count(*) as n, array_agg(k order by o) as keys
           from (select k, min(o) as o, (row_number() over (order by min(o)) - 1) / $7::int4 as chunk
                 from (select ${keyText} as k, given.o from json_array_elements($6::json) with ordinality as given(parts, o)) texts
                 group by k) chunked
           group by chunk`
    try {
      const [row] = await run<{ changes: string }>(
        trx,
        `with appended as (
           insert into ${log} (tbl, op, explicit, tenant, actor, reason, n, scopes, keys)
           select $1::int4, $2::text::"char", true, $3::text, $4::text, $5::text, source.n, ${scopeTexts}, source.keys
           from (${source}) source where $8::text is null or true
           returning n)
         select coalesce(sum(n), 0)::text as changes from appended`,
        [
          ...shared,
          keys === null ? null : JSON.stringify(keys),
          KEYS_PER_ENTRY,
          scopes === null ? null : JSON.stringify(scopes),
        ],
      )
      changes += Number(row?.changes ?? 0)
    } catch (error) {
      if (isMissingObject(error)) throw new NotMigratedError('the feed is not installed in this database')
      if (!isDataException(error)) throw error
      throw new InvalidInputError(
        entry.field,
        "a value cannot be cast to its column's type; the transaction is aborted, roll it back",
      )
    }
  }
  const [row] = await run<{ tx: string }>(trx, `select pg_current_xact_id()::text as tx`)
  if (row === undefined) throw new Error('a transaction has no id')
  return { tx: row.tx, changes }
}

async function requireLabels(trx: AnyTransaction, { table, keys, scopes, field }: ExplicitEntry): Promise<void> {
  const given: [CataloguedColumn, (string | null)[]][] = [
    ...table.key.map((c, i): [CataloguedColumn, string[]] => [c, (keys ?? []).map((parts) => parts[i] ?? '')]),
    ...table.scopes.map((c, i): [CataloguedColumn, (string | null)[]] => [c, [scopes?.[i] ?? null]]),
  ]
  for (const [column, texts] of given) {
    if (column.kind === 'enum' && !(await hasLabels(trx, column.castTo, texts))) {
      throw new InvalidInputError(field, `"${column.name}" must be one of the labels of its type`)
    }
  }
}
