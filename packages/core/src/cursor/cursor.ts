import type { Snapshot } from './snapshot.ts'

/**
 * A position in one audience's feed (docs/cursor.md, "The cursor").
 *
 * Delivered are: all entries with `id <= hw` that were visible in `snap`, and the first `part` keys of entry `hw + 1`. While `drain` is set, of the
 * entries that `snap` had not seen and `drain.to` had, those up to `drain.after` (and `drain.part` keys of the next) are delivered too.
 */
export interface Cursor {
  readonly hw: bigint
  readonly part: number
  readonly snap: Snapshot
  readonly drain: Drain | null
}

export interface Drain {
  readonly to: Snapshot
  readonly after: bigint
  readonly part: number
}

/** The snapshot a later read must dominate. */
export function baseSnapshot(cursor: Cursor): Snapshot {
  return cursor.drain === null ? cursor.snap : cursor.drain.to
}
