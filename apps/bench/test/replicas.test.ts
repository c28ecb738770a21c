import { type Change, globalOnly } from '@tidemark/core'
import { describe, expect, test } from 'vitest'
import { replicaFaults } from '../src/torture/end-state.ts'
import type { RowSet } from '../src/torture/existing-rows.ts'
import { ReadingReplica } from '../src/torture/reading-replica.ts'
import type { TortureTable } from '../src/torture/tables.ts'
import { change, entry, log, marker } from './support/entries.ts'

/* The replicas' own comparison, with faults made on purpose. */

const rows = (...keys: readonly string[]): RowSet =>
  new Map([['items', new Map(keys.map((key) => [key, { tenant: 'east', content: '1' }]))]])

describe('replicaFaults', () => {
  const created = entry(1, '700', ['1', '2'], { op: 'create' })
  const deleted = entry(2, '701', ['1'], { op: 'delete' })
  const deliveries = [change(created), change(created, 1), change(deleted)]
  const faults = (
    given: readonly Change<TortureTable>[],
    end: RowSet,
    more: { baseRows?: RowSet; rereads?: Parameters<typeof replicaFaults>[0]['rereads'] } = {},
  ): string[] => replicaFaults({ deliveries: given, baseRows: new Map(), rereads: [], ...more }, log, end)

  test('accepts a replica that equals the tables, whatever the order of delivery', () => {
    expect(faults(deliveries, rows('2'))).toEqual([])
    expect(faults(deliveries.toReversed(), rows('2'))).toEqual([])
    expect(faults([change(deleted)], rows('2'), { baseRows: rows('1', '2') })).toEqual([])
  })

  test('tells rows that were kept, dropped, or never announced', () => {
    expect(faults(deliveries.slice(0, 2), rows('2'))).toEqual(['items ["east","1"]: kept, but gone'])
    expect(faults(deliveries, rows('1', '2'))).toEqual(['items ["east","1"]: dropped, but there'])
    expect(faults(deliveries, rows('2', '3'))).toEqual(['items ["east","3"]: never announced'])
  })

  test('finds a replica that believes the order of arrival on a shuffled page', () => {
    const byArrival = (changes: readonly Change<TortureTable>[]): Change<TortureTable>[] =>
      changes.map((given, i) => ({ ...given, position: { entry: String(i + 1), ordinal: 0 } }))
    expect(faults(byArrival(deliveries), rows('2'))).toEqual([])
    expect(faults(byArrival(deliveries.toReversed()), rows('2'))).toEqual(['items ["east","1"]: kept, but gone'])
  })

  test('knows a row by its tenant too', () => {
    const left = entry(4, '703', ['2'], { op: 'delete' })
    const arrived = entry(5, '703', ['2'], { op: 'create', tenant: 'north' })
    const moved: RowSet = new Map([['items', new Map([['2', { tenant: 'north', content: '2' }]])]])
    expect(faults([...deliveries, change(left), change(arrived)], moved)).toEqual([])
    expect(faults([...deliveries, change(arrived)], moved)).toEqual(['items ["east","2"]: kept, but gone'])
  })

  test('reads the table anew after a table-level entry, and looks at whatever comes after that', () => {
    const late = [...deliveries, change(marker), change(deleted, 0, { key: '2' })]
    const rereads = [{ after: 4, rows: rows('1', '2') }]
    expect(faults(late.slice(0, 4), rows('1', '2'), { rereads })).toEqual([])
    expect(faults(late, rows('1'), { rereads })).toEqual([])
    expect(faults(late, rows('1'))).not.toEqual([])
  })
})

describe('ReadingReplica', () => {
  test('tells rows whose tenant or content differ, and rows that only one side has', () => {
    const replica = new ReadingReplica(globalOnly, ['items'])
    replica.load(rows('1', '2'))
    expect(replica.differences(rows('1', '2'))).toEqual([])
    const end: RowSet = new Map([
      [
        'items',
        new Map([
          ['2', { tenant: 'north', content: '1' }],
          ['3', { tenant: 'east', content: '7' }],
        ]),
      ],
    ])
    expect(replica.differences(end)).toEqual([
      'items 2: "east" 1 instead of "north" 1',
      'items 3: nothing instead of "east" 7',
      'items 1: "east" 1 instead of nothing',
    ])
  })
})
