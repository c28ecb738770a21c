import type { Change } from '@tidemark/core'
import type { LoggedEntry } from '../../src/torture/log-truth.ts'
import type { TortureTable } from '../../src/torture/tables.ts'

/* A small log to judge. */

export const entry = (
  id: number,
  tx: string,
  keys: readonly string[],
  more: Partial<LoggedEntry> = {},
): LoggedEntry => ({
  id,
  tx,
  table: 'items',
  op: 'update',
  tenant: 'east',
  explicit: false,
  keys,
  ...more,
})

export const change = (
  of: LoggedEntry,
  ordinal = 0,
  more: Partial<Change<TortureTable>> = {},
): Change<TortureTable> => ({
  table: of.table,
  operation: of.op,
  key: of.keys?.[ordinal] ?? null,
  tenant: of.tenant,
  at: '',
  position: { entry: String(of.id), ordinal },
  tx: of.tx,
  ...more,
})

export const first: LoggedEntry = entry(1, '700', ['1', '2'])
export const second: LoggedEntry = entry(2, '701', ['1'])
export const marker: LoggedEntry = entry(3, '702', [], { op: 'invalidate', tenant: null, keys: null })
export const log: ReadonlyMap<number, LoggedEntry> = new Map([first, second, marker].map((e) => [e.id, e]))
