import { decodeCursor, encodeCursor } from '../../../src/cursor/codec.ts'
import type { Cursor } from '../../../src/cursor/cursor.ts'
import { BrokenPromise } from './broken-promise.ts'
import type { Database } from './database.ts'
import { floorOf, type Instant, type StoredEntry } from './log.ts'
import { pageView, type Request } from './page-view.ts'
import type { Planner } from './planner.ts'

/** A cursor as a client keeps it, and what the model knows about the chain that led to it. */
export interface Position {
  readonly cursor: Cursor
  readonly text: string
  /** Keys by number: delivered, or before the chain's start. */
  readonly given: Set<number>
  /** By row: the largest key delivered. */
  readonly lastOfRow: Map<number, number>
  /** Of the entries up to the floor it began at, those of transactions below this one: past their retention, but perhaps not pruned yet. */
  readonly mayMiss: { readonly upTo: number; readonly below: number }
  /** When the snapshot was taken in which the chain was last up to date; -1: never. */
  readonly cutAt: number
  /** When the newest snapshot was taken in which the chain was served. */
  readonly servedAt: number
  /** When the newest floor was raised above which the chain was served. */
  readonly floorPassedAt: number
}

const EPOCH = '0123456789ab'
const AUDIENCE = '01234567'

/** Sends a cursor through its text, as a client does, and gives back what the server reads from it. */
export function throughText(cursor: Cursor): Pick<Position, 'cursor' | 'text'> {
  const text = encodeCursor({ epoch: EPOCH, audience: AUDIENCE, cursor })
  const decoded = decodeCursor(text)
  if (decoded.kind !== 'cursor') throw new BrokenPromise(`a cursor whose text is ${decoded.kind}`)
  return { cursor: decoded.envelope.cursor, text }
}

/** The oldest retained cursor. */
export function startPosition(planner: Planner, instant: Instant, request: Request): Position {
  const floor = floorOf(instant.floors, request.audience)
  return {
    ...throughText(planner.oldestCursor(pageView(planner, instant, null, request))),
    given: new Set(),
    lastOfRow: new Map(),
    mayMiss: { upTo: floor.id, below: instant.expired },
    cutAt: -1,
    servedAt: -1,
    floorPassedAt: floor.raisedAt,
  }
}

/** The head: all that `instant` sees, and all that was pruned before it, lies before the chain. */
export function headPosition(planner: Planner, database: Database, instant: Instant, request: Request): Position {
  const given = new Set<number>()
  for (const { firstKey, logged } of seenBy(database, instant)) {
    for (let i = 0; i < logged.count; i++) given.add(firstKey + i)
  }
  return {
    ...throughText(planner.headCursor(pageView(planner, instant, null, request))),
    given,
    lastOfRow: new Map(),
    mayMiss: { upTo: 0, below: 0 },
    cutAt: instant.at,
    servedAt: instant.at,
    floorPassedAt: floorOf(instant.floors, request.audience).raisedAt,
  }
}

/** The entries visible at an instant and those pruned before it: what a chain must have been given when it is up to date there. */
export function* seenBy(database: Database, instant: Instant): Generator<StoredEntry> {
  yield* instant.log
  for (let i = 0; i < instant.pruned; i++) {
    const entry = database.pruned[i]
    if (entry !== undefined) yield entry
  }
}
