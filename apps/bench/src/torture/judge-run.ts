import { sql } from 'kysely'
import type { Flaw } from './broken-readers.ts'
import type { ChainRecord } from './chain.ts'
import { tablesOf } from './chains.ts'
import { replicaFaults } from './end-state.ts'
import { existingRows } from './existing-rows.ts'
import { judge } from './judge.ts'
import { judgeCapture } from './judge-capture.ts'
import type { WriterStats } from './kinds.ts'
import { expectedEntries, readLog } from './log-truth.ts'
import { type ChainReport, summarise, type TortureReport } from './report.ts'
import type { Side } from './schema.ts'
import type { Witness } from './witness.ts'
import { writeOrder } from './write-order.ts'

/** What a run leaves behind besides its database. */
export interface FinishedRun {
  readonly witness: Witness
  readonly stats: WriterStats
  readonly records: readonly ChainRecord[]
  readonly seed: number
  readonly flaw: Flaw | undefined
  readonly writersMs: number
  readonly writers: number
}

/** Judges a run by the log and the tables as they are now, and by what the writers noted. */
export async function judgeRun({ db }: Side, run: FinishedRun): Promise<TortureReport> {
  const { witness, records } = run
  const entries = await readLog(db)
  const { orderOf, contradictions } = writeOrder(witness.committed)
  const chains: ChainReport[] = []
  for (const record of records) {
    const { spec, base, deliveries, replica } = record
    const tables = tablesOf(spec)
    const end = await existingRows(db, spec.audience, tables)
    chains.push({
      record,
      verdict: judge(deliveries, entries, await expectedEntries(db, spec.audience, tables, base), orderOf),
      replicaFaults: replicaFaults(record, entries, end),
      replicaDiffers: replica === null ? null : replica.differences(end),
      replicaRows: [...end.values()].reduce((rows, { size }) => rows + size, 0),
    })
  }
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db)
  const capture = judgeCapture(entries, witness.committed, witness.migrated)
  return summarise({ ...run, server: rows[0]?.version ?? '', entries, chains, contradictions, capture })
}
