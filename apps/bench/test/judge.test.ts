import type { Change } from '@tidemark/core'
import { describe, expect, test } from 'vitest'
import { replicaFaults } from '../src/torture/end-state.ts'
import { judge, judgeCapture } from '../src/torture/judge.ts'
import type { LoggedEntry, RowSet } from '../src/torture/log-truth.ts'
import type { TortureTable } from '../src/torture/schema.ts'
import { rowName, type Note, Witness, writeOrder } from '../src/torture/witness.ts'

/* The judges themselves: each fault they are there for, made on purpose. */

const entry = (id: number, tx: string, keys: readonly string[], more: Partial<LoggedEntry> = {}): LoggedEntry => ({
  id,
  tx,
  table: 'items',
  op: 'update',
  tenant: 'east',
  explicit: false,
  keys,
  ...more,
})

const change = (of: LoggedEntry, ordinal = 0, more: Partial<Change<TortureTable>> = {}): Change<TortureTable> => ({
  table: of.table,
  operation: of.op,
  key: of.keys?.[ordinal] ?? null,
  tenant: of.tenant,
  at: '',
  position: { entry: String(of.id), ordinal },
  tx: of.tx,
  ...more,
})

const first = entry(1, '700', ['1', '2'])
const second = entry(2, '701', ['1'])
const marker = entry(3, '702', [], { op: 'invalidate', tenant: null, keys: null })
const log = new Map([first, second, marker].map((e) => [e.id, e]))
const all = new Set(log.keys())
const orderOf = new Map([
  [
    rowName('items', '1'),
    new Map([
      ['700', 0],
      ['701', 1],
    ]),
  ],
  [rowName('items', '2'), new Map([['700', 0]])],
])
const everything = [change(first), change(first, 1), change(second), change(marker)]
const spotless = { deliveries: 4, missed: 0, repeated: 0, foreign: 0, wrong: 0, outOfOrder: 0, ordered: 1, late: 0 }

describe('judge', () => {
  test('finds nothing in a faultless chain', () => {
    expect(judge(everything, log, all, orderOf)).toEqual(spotless)
  })

  test.each([
    ['a missing key of an entry', everything.toSpliced(1, 1), { deliveries: 3, missed: 1 }],
    ['a missing table-level entry', everything.slice(0, 3), { deliveries: 3, missed: 1 }],
    ['a repeated key', [...everything, change(first, 1)], { deliveries: 5, repeated: 1, late: 1 }],
    [
      'a row in the wrong order',
      [change(second), change(first), change(first, 1), change(marker)],
      { outOfOrder: 1, late: 2 },
    ],
    ['an entry that is not in the log', [...everything, change(entry(9, '9', ['1']))], { deliveries: 5, foreign: 1 }],
    ['another key than the log has', everything.with(1, change(first, 1, { key: '3' })), { wrong: 1 }],
    ['another tenant than the log has', everything.with(2, change(second, 0, { tenant: 'north' })), { wrong: 1 }],
    [
      'another operation than the log has',
      everything.with(2, change(second, 0, { operation: 'delete' })),
      { wrong: 1 },
    ],
  ])('counts %s', (_, deliveries, found) => {
    expect(judge(deliveries, log, all, orderOf)).toEqual({ ...spotless, ...found })
  })

  test('counts what belongs to another audience', () => {
    expect(judge(everything, log, new Set([1, 3]), orderOf)).toMatchObject({ foreign: 1, missed: 0 })
  })

  test('does not judge the order of explicit entries', () => {
    const explicit = entry(2, '701', ['1'], { explicit: true })
    const withExplicit = new Map(log).set(2, explicit)
    expect(
      judge([change(explicit), change(first), change(first, 1), change(marker)], withExplicit, all, orderOf).outOfOrder,
    ).toBe(0)
  })
})

describe('judgeCapture', () => {
  test('finds writes without an entry and entries without a write', () => {
    expect(judgeCapture(log, orderOf)).toEqual({ uncaptured: [], unexplained: [] })
    expect(judgeCapture(new Map([[1, first]]), orderOf).uncaptured).toEqual(['701 items 1'])
    expect(judgeCapture(new Map(log).set(4, entry(4, '703', ['5'])), orderOf).unexplained).toEqual(['703 items 5'])
    expect(judgeCapture(new Map(log).set(4, entry(4, '703', ['5'], { explicit: true })), orderOf).unexplained).toEqual(
      [],
    )
  })
})

describe('writeOrder', () => {
  const notes = (
    ...steps: readonly [tx: string, key: string, fate: Note['fate'], version: number | null][]
  ): Witness => {
    const witness = new Witness()
    const open = new Map(steps.map(([tx]) => [tx, witness.begin()]))
    for (const [tx, key, fate, version] of steps) open.get(tx)?.note('items', key, fate, version)
    for (const [tx, notesOf] of open) notesOf.commit(tx)
    return witness
  }

  test('orders transactions by their first note of a row', () => {
    const { orderOf: order, contradictions } = writeOrder(
      notes(
        ['9', '1', 'arrived', 1],
        ['9', '1', 'wrote', 2],
        ['5', '1', 'wrote', 3],
        ['7', '1', 'left', null],
        ['6', '1', 'arrived', 1],
      ).committed,
    )
    expect(contradictions).toEqual([])
    expect([...(order.get('items 1') ?? [])]).toEqual([
      ['9', 0],
      ['5', 1],
      ['7', 2],
      ['6', 3],
    ])
  })

  test.each([
    ['a version that does not follow', notes(['1', 'k', 'arrived', 1], ['2', 'k', 'wrote', 3])],
    ['a write on a row that had left', notes(['1', 'k', 'left', null], ['2', 'k', 'wrote', 3])],
    ['a row that left twice', notes(['1', 'k', 'left', null], ['2', 'k', 'left', null])],
    ['a transaction around another', notes(['1', 'k', 'arrived', 1], ['2', 'k', 'wrote', 2], ['1', 'k', 'wrote', 3])],
  ])('notices %s', (_, witness) => {
    expect(writeOrder(witness.committed).contradictions).toHaveLength(1)
  })

  test('forgets what was rolled back', () => {
    const witness = new Witness()
    const transaction = witness.begin()
    transaction.note('items', '1', 'arrived', 1)
    const mark = transaction.mark()
    transaction.note('items', '2', 'arrived', 1)
    transaction.rollBackTo(mark)
    transaction.commit('1')
    expect([...writeOrder(witness.committed).orderOf.keys()]).toEqual(['items 1'])
  })
})

describe('replicaFaults', () => {
  const rows = (...keys: readonly string[]): RowSet => new Map([['items', new Map(keys.map((key) => [key, 'east']))]])
  const created = entry(1, '700', ['1', '2'], { op: 'create' })
  const deleted = entry(2, '701', ['1'], { op: 'delete' })
  const deliveries = [change(created), change(created, 1), change(deleted)]

  test('accepts a replica that equals the tables, whatever the order of delivery', () => {
    expect(replicaFaults(deliveries, log, rows(), rows('2'))).toEqual([])
    expect(replicaFaults(deliveries.toReversed(), log, rows(), rows('2'))).toEqual([])
    expect(replicaFaults([change(deleted)], log, rows('1', '2'), rows('2'))).toEqual([])
  })

  test('tells rows that were kept, dropped, or never announced', () => {
    expect(replicaFaults(deliveries.slice(0, 2), log, rows(), rows('2'))).toEqual(['items 1: kept, but gone'])
    expect(replicaFaults(deliveries, log, rows(), rows('1', '2'))).toEqual(['items 1: dropped, but there'])
    expect(replicaFaults(deliveries, log, rows(), rows('2', '3'))).toEqual(['items 3: never announced'])
  })

  test('holds nothing against what precedes a table-level entry', () => {
    expect(replicaFaults([...deliveries, change(marker)], log, rows(), rows('1', '2'))).toEqual([])
  })
})
