import type { DeclaredTable } from '@tidemark/core'
import { SyncError } from '../errors/sync-error.ts'

/** The declared tables by name, whatever their types. */
export type Tables = ReadonlyMap<string, DeclaredTable>

/** Finds one declared table; the error says which field named an unknown one, and nothing of the others. */
export function declaredTable(tables: Tables, name: string, field: string): DeclaredTable {
  const table = tables.get(name)
  if (table !== undefined) return table
  throw new SyncError('unknownTable', { field, message: `"${field}": the feed declares no table of this name` })
}

/**
 * Refuses what a tenant alone does not decide: of a table with scopes a caller may see some rows only, and `changes`
 * cannot tell which.
 */
export function refuseScopedTables(tables: Tables, names: readonly string[] | undefined): void {
  if (names === undefined) {
    if ([...tables.values()].every(({ scopes }) => scopes.length === 0)) return
    throw new SyncError('scopedTable', {
      field: 'tables',
      message:
        '"tables": the feed also has tables with scopes, which cannot be followed here; name the tables you want',
    })
  }
  names.forEach((name, i) => {
    const field = `tables[${i}]`
    if (declaredTable(tables, name, field).scopes.length === 0) return
    throw new SyncError('scopedTable', {
      field,
      message: `"${field}": a table with scopes cannot be followed here; leave it out`,
    })
  })
}
