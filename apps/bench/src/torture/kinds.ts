/** What writers do, each with how often a run must have done it in committed transactions to prove anything. */
export const LEAST_OF_EACH = {
  bulkStatements: 1,
  copies: 1,
  merges: 1,
  upserts: 1,
  deletes: 1,
  moves: 1,
  keyChanges: 1,
  swaps: 1,
  truncates: 1,
  explicit: 1,
  /** Transactions that ended by PREPARE and COMMIT PREPARED. */
  prepared: 1,
  /** Transactions in repeatable read or serializable. */
  strictIsolation: 1,
  /** Transactions with more than 64 subtransactions that wrote: more than the server lists for each session. */
  subtransactionOverflows: 1,
  /** Transactions in the replica role, in which only triggers that are always enabled fire. */
  replicaRole: 1,
  /** Statements of a plain role on tables with forced row security. */
  rowSecurity: 1,
  /** Statements on partitioned tables, and on their partitions. */
  partitionsWritten: 1,
  partitionsDirect: 1,
  /** Rows that moved to another partition. */
  partitionMoves: 1,
  partitionTruncates: 1,
  partitionsCreated: 1,
  partitionsAttached: 1,
  /** Rows that foreign keys deleted, gave another key or tenant, set to null, and deleted in the tree. */
  cascades: 1,
  keyCascades: 1,
  nullCascades: 1,
  treeCascades: 1,
  /** Rows that an AFTER ROW trigger of the application wrote in the table it stands on; in another one; that an AFTER STATEMENT trigger wrote. */
  nested: 1,
  nestedElsewhere: 1,
  statementTriggers: 1,
  /** Rows that a BEFORE trigger changed, and whose write it cancelled. */
  changedBefore: 1,
  cancelled: 1,
} as const

export type Kind = keyof typeof LEAST_OF_EACH
export const kinds: readonly Kind[] = Object.keys(LEAST_OF_EACH) as Kind[]

/** Counters of a run's writers. */
export interface WriterStats extends Record<Kind, number> {
  committed: number
  rolledBack: number
  savepoints: number
  savepointsRolledBack: number
  /** Most subtransactions that wrote in one committed transaction. */
  mostSubtransactions: number
  largestStatement: number
  longestOpenMs: number
}

export function newWriterStats(): WriterStats {
  return {
    committed: 0,
    rolledBack: 0,
    savepoints: 0,
    savepointsRolledBack: 0,
    mostSubtransactions: 0,
    largestStatement: 0,
    longestOpenMs: 0,
    ...(Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>),
  }
}
