/**
 * Keeps cursors beyond one page view. `entry` names the identity and the tables that a cursor belongs to: cursors of
 * two entries are never mixed. Any method may be asynchronous and may throw: the client shows it (`storeError`) and
 * goes on from memory.
 */
export interface CursorStore {
  /** The cursor, or `null` (or `undefined`) when there is none. */
  get(entry: string): string | null | undefined | Promise<string | null | undefined>
  /** Keeps the cursor, to the character. */
  set(entry: string, cursor: string): void | Promise<void>
  delete(entry: string): void | Promise<void>
}

/** A store that lives as long as the object: for tests, and for clients that are made anew within one page view. */
export function memoryStore(): CursorStore {
  const cursors = new Map<string, string>()
  return {
    get: (entry) => cursors.get(entry),
    set: (entry, cursor) => void cursors.set(entry, cursor),
    delete: (entry) => void cursors.delete(entry),
  }
}
