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

function appendDelete(row: CapturedRow): string {
  const appended = append(row, 'd', 'old')
  const conditions = row.deleteConditions('old')
  const told = conditions.length === 0 ? appended : `if ${conditions.join(' and ')} then ${appended} end if;`
  return row.plan.reusesKeys ? `if ${row.isBlind} then ${row.invalidate} else ${told} end if;` : told
}
