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
    ${deleteUnlessThere(row)}
    ${append(row, 'c', 'new')}
  end if;
  return null;
end
`
}

/** A row that moves to another partition is deleted and inserted as the triggers see it; its key may be in use again by then. */
export function rowDelete(row: CapturedRow): string {
  const { reusesKeys, facts } = row.plan
  const mayBeThere = reusesKeys || facts.kind === 'p'
  return `
begin
  ${mayBeThere ? deleteUnlessThere(row) : when(row.deleteMatters('old'), append(row, 'd', 'old'))}
  return null;
end
`
}

function append(row: CapturedRow, op: 'c' | 'u' | 'd', alias: 'old' | 'new'): string {
  const tenant = op === 'd' ? row.tenant(alias) : row.requiredTenant(row.tenant(alias))
  return `insert into ${row.log} values (${row.number}, '${op}'::"char", 1, ${tenant}, ${row.scopes(alias)}, array[${row.key(alias)}]);`
}

function deleteUnlessThere(row: CapturedRow): string {
  const told = when([...row.deleteMatters('old'), `not ${row.isThereNow('old')}`], append(row, 'd', 'old'))
  return row.isBlind === null ? told : `if ${row.isBlind} then ${row.invalidate} else ${told} end if;`
}

function when(conditions: readonly string[], statement: string): string {
  return conditions.length === 0 ? statement : `if ${conditions.join(' and ')} then ${statement} end if;`
}
