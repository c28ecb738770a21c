import { SyncClientError } from '../errors.ts'
import type { CursorStore } from './cursor-store.ts'

/**
 * Writes behind the loop, in order: a slow store delays no request, and of several cursors that wait for it only the
 * last is written. Every cursor given to `save` has been delivered, so an older one in the store only repeats changes.
 */
export class CursorKeeper {
  readonly #store: CursorStore
  readonly #onWritten: (error: SyncClientError | null) => void
  readonly #unsaved = new Map<string, string>()
  #writes: Promise<void> = Promise.resolve()

  constructor(store: CursorStore, onWritten: (error: SyncClientError | null) => void) {
    this.#store = store
    this.#onWritten = onWritten
  }

  /** The cursor as the store has it once everything before is written. Rejects with a {@link SyncClientError}. */
  async load(entry: string): Promise<string | null> {
    await this.#writes
    return (await attempt('read', () => this.#store.get(entry))) || null
  }

  save(entry: string, cursor: string): void {
    this.#unsaved.set(entry, cursor)
    this.#writes = this.#writes.then(() => this.#write(entry))
  }

  /** Rejects with a {@link SyncClientError} when the cursor may still be there. */
  delete(entry: string): Promise<void> {
    const deleted = this.#writes.then(() => attempt('deleted', () => this.#store.delete(entry)))
    this.#writes = deleted.catch(this.#onWritten)
    return deleted
  }

  async #write(entry: string): Promise<void> {
    const cursor = this.#unsaved.get(entry)
    if (cursor === undefined) return
    this.#unsaved.delete(entry)
    await attempt('written', () => this.#store.set(entry, cursor)).then(() => this.#onWritten(null), this.#onWritten)
  }
}

async function attempt<R>(what: string, work: () => R | Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (cause) {
    throw new SyncClientError('store', `the cursor could not be ${what}`, { cause })
  }
}
