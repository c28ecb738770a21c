import { describe, expect, test } from 'vitest'
import { judge } from '../src/torture/judge.ts'
import { rowName } from '../src/torture/write-order.ts'
import { change, entry, first, log, marker, second } from './support/entries.ts'

/* The judges themselves: each fault they are there for, made on purpose. */

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
