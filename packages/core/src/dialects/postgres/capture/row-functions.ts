import type { CapturedRow } from './captured-row.ts'

/**
 * Bodies of the row triggers (docs/capture.md, "Row triggers"). They fire once the whole statement is done, one row after the other, so each
 * looks at the table as the statement left it.
 */

export function rowInsert(row: CapturedRow): string {
  return `
begin
  ${append(row, 'c', 'new')}
  return null;
end
`
}

/** The trigger's condition has left out the rows that did not change. */
export function rowUpdate(row: CapturedRow): string {
  return `
begin
  if ${row.same('old', 'new')} then
    ${append(row, 'u', 'new')}
  else
    ${appendDelete(row)}
    ${append(row, 'c', 'new')}
  end if;
  return null;
end
`
}

/** A row that moves to another partition is deleted and inserted, as the triggers see it. */
export function rowDelete(row: CapturedRow): string {
  return `
begin
  ${appendDelete(row)}
  return null;
end
`
}

function append(row: CapturedRow, op: 'c' | 'u' | 'd', alias: 'old' | 'new'): string {
  const tenant = op === 'd' ? row.tenant(alias) : row.requiredTenant(row.tenant(alias))
  return `insert into ${row.log} values (${row.number}, '${op}'::"char", 1, ${tenant}, ${row.scopes(alias)}, array[${row.key(alias)}]);`
}

/** Where keys can be taken before they are freed, a key that is there again was not deleted. */
function appendDelete(row: CapturedRow): string {
  const appended = append(row, 'd', 'old')
  if (!row.plan.reusesKeys) return when(row.deleteMatters('old'), appended)
  const unlessThere = when([...row.deleteMatters('old'), `not ${row.isThereNow('old')}`], appended)
  return `if ${row.isBlind} then ${row.invalidate} else ${unlessThere} end if;`
}

function when(conditions: readonly string[], statement: string): string {
  return conditions.length === 0 ? statement : `if ${conditions.join(' and ')} then ${statement} end if;`
}
