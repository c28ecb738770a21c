import { describe, expect, test } from 'vitest'
import { judgeCapture } from '../src/torture/judge-capture.ts'
import type { LoggedEntry } from '../src/torture/log-truth.ts'
import { type Note, Witness } from '../src/torture/witness.ts'
import { writeOrder } from '../src/torture/write-order.ts'
import { entry, first, log, marker } from './support/entries.ts'

/* The judge of capture, and of the order of writes, with faults made on purpose. */

describe('judgeCapture', () => {
  type Step = readonly [tx: string, key: string | null, fate: Note['fate']]
  const committed = (...steps: readonly Step[]): ReadonlyMap<string, readonly Note[]> => {
    const notes = new Map<string, Note[]>()
    for (const [seq, [tx, key, fate]] of steps.entries())
      notes.set(tx, [...(notes.get(tx) ?? []), { table: 'items', key, fate, version: null, seq }])
    return notes
  }
  const written = committed(['700', '1', 'wrote'], ['700', '2', 'wrote'], ['701', '1', 'wrote'], ['702', null, 'left'])
  const captured = (...entries: readonly LoggedEntry[]): ReadonlyMap<number, LoggedEntry> =>
    new Map([...log.values(), ...entries].map((e) => [e.id, e]))
  const flawless = { uncaptured: [], unexplained: [], misleading: [] }

  test('is content with a log that says what was written', () => {
    expect(judgeCapture(log, written, new Map())).toEqual(flawless)
  })

  test('finds rows and tables written without an entry', () => {
    expect(judgeCapture(new Map([[1, first]]), written, new Map()).uncaptured).toEqual(['701 items 1', '702 items'])
  })

  test('finds entries without a write', () => {
    const extra = entry(4, '703', ['5'])
    expect(judgeCapture(captured(extra), written, new Map()).unexplained).toEqual(['703 items 5'])
    expect(judgeCapture(captured({ ...extra, explicit: true }), written, new Map())).toEqual(flawless)
  })

  test('lets migrate() announce a table as often as it looked after it', () => {
    const announced = captured({ ...marker, id: 4, tx: '703' }, { ...marker, id: 5, tx: '704' })
    expect(judgeCapture(announced, written, new Map([['items', 2]]))).toEqual(flawless)
    expect(judgeCapture(announced, written, new Map([['items', 1]])).unexplained).toEqual(['704 items'])
  })

  test('finds a last entry that contradicts how the transaction left the row', () => {
    const deleted = entry(4, '703', ['1'], { op: 'delete' })
    const updated = entry(5, '703', ['1'])
    const gone = committed(['703', '1', 'wrote'], ['703', '1', 'left'])
    const there = committed(['703', '1', 'left'], ['703', '1', 'arrived'])
    expect(
      judgeCapture(
        new Map([
          [4, updated],
          [5, deleted],
        ]),
        gone,
        new Map(),
      ),
    ).toEqual(flawless)
    expect(
      judgeCapture(
        new Map([
          [4, deleted],
          [5, updated],
        ]),
        gone,
        new Map(),
      ).misleading,
    ).toEqual(['703 items 1: update'])
    expect(
      judgeCapture(
        new Map([
          [4, updated],
          [5, deleted],
        ]),
        there,
        new Map(),
      ).misleading,
    ).toEqual(['703 items 1: delete'])
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
