import type { TableFacts } from './describe-tables.ts'

/**
 * A table's columns and partitions as they were when its capture was last looked after. What changes them can change rows without firing a
 * trigger (docs/capture.md, "Schema changes"), so the next look compares.
 */
export interface TableLayout {
  readonly columns: readonly LayoutColumn[]
  /** `PartitionFacts.attachment` of all partitions. */
  readonly partitions: readonly string[]
  /** Storage of the table and of its partitions, by their identities. */
  readonly storage: Readonly<Record<string, string>>
}

export interface LayoutColumn {
  readonly number: number
  readonly name: string
  /** `ColumnFacts.version`. */
  readonly version: string
  /** `ColumnFacts.identity`. */
  readonly type: string
  /** Hash of its expression, or `null`. */
  readonly generated: string | null
  /** Labels of an enum by their identity. */
  readonly labels: Readonly<Record<string, string>> | null
}

export function layoutOf(facts: TableFacts): TableLayout {
  const { columns, partitions } = facts
  return {
    columns: columns.map(({ number, name, version, identity, expression, labels }) => ({
      number,
      name,
      version,
      type: identity,
      generated: expression,
      labels,
    })),
    partitions: partitions.map(({ attachment }) => attachment),
    storage: storageOf(facts),
  }
}

function storageOf({ oid, storage, partitions }: TableFacts): Record<string, string> {
  return Object.fromEntries([[oid, storage], ...partitions.map((partition) => [partition.oid, partition.storage])])
}

/**
 * What happened to the rows since, unseen by any trigger; `null` when nothing did. `suspects`: of the partitions that are new,
 * those whose rows may have changed before they were known.
 */
export function unseenChange(before: TableLayout, facts: TableFacts, suspects: readonly string[]): string | null {
  for (const column of before.columns) {
    const now = facts.columns.find(({ number }) => number === column.number)
    // Rows that lose a column keep all the others.
    if (now === undefined) continue
    if (now.name !== column.name) return `column "${column.name}" was renamed to "${now.name}"`
    if (now.identity !== column.type) return `the type of column "${now.name}" was changed`
    if (now.expression !== column.generated) return `the expression of column "${now.name}" was changed`
    for (const [label, text] of Object.entries(column.labels ?? {}))
      if (now.labels?.[label] !== text) return `a label of the type of column "${now.name}" was renamed`
  }
  for (const { number, name, filled } of facts.columns) {
    if (before.columns.some((column) => column.number === number)) continue
    if (filled) return `column "${name}" was added with values`
    if (before.columns.some((column) => column.name === name)) return `column "${name}" was dropped and added anew`
  }
  // VACUUM FULL, CLUSTER and TRUNCATE rewrite a table and leave its columns as they are; what gives a column other values does not.
  const storage = storageOf(facts)
  if (Object.entries(before.storage).some(([oid, file]) => (storage[oid] ?? file) !== file)) {
    for (const { number, name, version } of facts.columns) {
      const then = before.columns.find((column) => column.number === number)
      if (then?.version !== version)
        return `the table was rewritten, and column "${name}" was ${then === undefined ? 'added' : 'altered'}`
    }
  }
  const [suspect] = suspects
  if (suspect !== undefined) return `partition "${suspect}" came with rows, or was truncated before it was known`
  const gone = before.partitions.filter((noted) => !facts.partitions.some(({ attachment }) => attachment === noted))
  if (gone.length > 0)
    return `${gone.length === 1 ? 'a partition was' : `${gone.length} partitions were`} detached or dropped`
  return null
}

/** Partitions that came since. */
export function newPartitions(before: TableLayout, { partitions }: TableFacts): TableFacts['partitions'] {
  return partitions.filter(({ attachment }) => !before.partitions.includes(attachment))
}

/** Today's name of a column that was called `name` then. */
export function currentName(before: TableLayout, facts: TableFacts, name: string): string {
  const number = before.columns.find((column) => column.name === name)?.number
  return facts.columns.find((column) => column.number === number)?.name ?? name
}
