import { KEYS_PER_ENTRY } from '../../../log-limits.ts'
import { type CapturedRow, CHANGED, column, comparable, EQ, NO_TEXT, textArray, textOfGrouped } from './captured-row.ts'
import type { CapturedColumn, CapturePlan } from './plan-capture.ts'

/**
 * Bodies of the statement triggers, over transition tables (docs/capture.md, "Statement triggers"). Everything is qualified, because they run in the
 * sessions of whoever writes.
 */

export const oldRows = 'tidemark_o'
export const newRows = 'tidemark_n'

/** What entries are grouped by, each column under a short name. */
function groupsOf({
  tenant,
  scopes,
}: CapturePlan): readonly { readonly name: string; readonly column: CapturedColumn }[] {
  return [
    ...(tenant === null ? [] : [{ name: 't', column: tenant }]),
    ...scopes.map((scope, i) => ({ name: `s${i + 1}`, column: scope })),
  ]
}

/**
 * Appends what `rows` yields (op, the grouped values, k = key text) as one entry for each operation, tenant and set of scope values, in chunks.
 * Deletes come first, then creates, then updates: a key that was freed and used again ends as present.
 */
function appendGrouped(row: CapturedRow, rows: string): string {
  const { plan } = row
  const groups = groupsOf(plan)
  const names = (alias: string): string => groups.map(({ name }) => `, ${alias}.${name}`).join('')
  const tenantText = plan.tenant === null ? NO_TEXT : textOfGrouped('g.t', plan.tenant)
  const tenant =
    plan.tenant === null
      ? NO_TEXT
      : `case when g.op ${EQ} 'd'::"char" then ${tenantText} else ${row.requiredTenant(tenantText)} end`
  const scopes = textArray(plan.scopes.map((c, i) => textOfGrouped(`g.s${i + 1}`, c)))
  return `insert into ${row.log}
    select ${row.number}, g.op, g.n, ${tenant}, ${scopes}, g.keys
    from (select x.op${names('x')}, pg_catalog.count(*) as n, pg_catalog.array_agg(x.k) as keys
          from (select y.*, (pg_catalog.row_number() over (partition by y.op${names('y')}) operator(pg_catalog.-) 1) operator(pg_catalog./) ${KEYS_PER_ENTRY} as chunk
                from (${rows}) y) x
          group by x.op${names('x')}, x.chunk) g
    order by pg_catalog.strpos('dcu', g.op::pg_catalog.text);`
}

export function statementInsert(row: CapturedRow): string {
  return body(oneSided(row, 'c', newRows, 'n', row.requiredTenant(row.tenant('n')), 'true'))
}

export function statementDelete(row: CapturedRow): string {
  const where = row.deleteConditions('o').join(' and ') || 'true'
  return body(invalidateIfBlind(row, oldRows), oneSided(row, 'd', oldRows, 'o', row.tenant('o'), where))
}

/**
 * Insert or delete: one row, the usual case, or more. Which it is, is asked first and by a statement of its own: as a condition of the append it cost
 * each write more (docs/decisions/0004-write-overhead.md).
 */
function oneSided(
  row: CapturedRow,
  op: 'c' | 'd',
  table: string,
  alias: string,
  tenant: string,
  where: string,
): string {
  const groups = groupsOf(row.plan)
    .map(({ name, column: c }) => `, ${comparable(alias, c)} as ${name}`)
    .join('')
  return `
  perform from ${table} offset 1;
  if found then
    ${appendGrouped(row, `select '${op}'::"char" as op${groups}, ${row.key(alias)} as k from ${table} ${alias} where ${where}`)}
  else
    insert into ${row.log}
    select ${row.number}, '${op}'::"char", 1, ${tenant}, ${row.scopes(alias)}, array[${row.key(alias)}]
    from ${table} ${alias} where ${where};
  end if;
`
}

/**
 * Update. The usual case is one row that keeps key, tenant and scopes. Else old and new rows are joined on exactly these: what has only an old
 * side left, what has only a new side arrived. The join is FULL, which cannot become a nested loop in a cached plan. Rows that did
 * not change at all are left out; whole rows are compared, and byte by byte, so that no column and no type is missed.
 */
export function statementUpdate(row: CapturedRow): string {
  const { plan } = row
  const [firstKey] = plan.key
  if (firstKey === undefined) throw new Error('a captured table has a key')
  const gone = `(${column('n', firstKey)} is null)`
  const arrived = `${column('o', firstKey)} is null`
  const changed = `o.* ${CHANGED} n.*`
  const side = (sql: (alias: string) => string): string => `case when ${gone} then ${sql('o')} else ${sql('n')} end`
  const groups = groupsOf(row.plan)
    .map(({ name, column: c }) => `, ${side((alias) => comparable(alias, c))} as ${name}`)
    .join('')
  const unannounced = row
    .deleteConditions('o')
    .map((condition) => ` and (not ${gone} or ${condition})`)
    .join('')
  const rows = `select case when ${gone} then 'd' when ${arrived} then 'c' else 'u' end::"char" as op${groups}, ${side((alias) => row.key(alias))} as k
                from ${oldRows} o full join ${newRows} n on ${row.same('o', 'n')}
                where (${gone} or ${arrived} or ${changed})${unannounced}`
  return body(`
  perform from ${newRows} offset 1;
  if not found then
    insert into ${row.log}
    select ${row.number}, 'u'::"char", 1, ${row.tenant('n')}, ${row.scopes('n')}, array[${row.key('n')}]
    from ${oldRows} o, ${newRows} n where ${row.same('o', 'n')} and ${changed};
    if found then return null; end if;
    if not exists (select from ${newRows}) then return null; end if;
  end if;${invalidateIfBlind(row, newRows)}
  ${appendGrouped(row, rows)}
`)
}

function body(...statements: readonly string[]): string {
  return `
begin${statements.join('')}  return null;
end
`
}

/** Where keys are looked up. */
function invalidateIfBlind(row: CapturedRow, rows: string): string {
  if (!row.plan.reusesKeys) return ''
  return `
  if (${row.isBlind}) and exists (select from ${rows}) then
    ${row.invalidate}
    return null;
  end if;`
}
