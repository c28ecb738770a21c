import { SyncClientError } from '../errors.ts'
import type { CursorStore } from './cursor-store.ts'

export interface CursorKeeperOptions {
  readonly onSaved: () => void
  readonly onFailed: (error: SyncClientError) => void
}

/**
 * Writes behind the loop, in order: a slow store delays no request, and of several cursors that wait for it only the last is
 * written. Every cursor given to `save` has been delivered, so an older one in the store only repeats changes.
 */
export class CursorKeeper {
  readonly #store: CursorStore
  readonly #options: CursorKeeperOptions
  readonly #unsaved = new Map<string, string>()
  #writes: Promise<void> = Promise.resolve()

  constructor(store: CursorStore, options: CursorKeeperOptions) {
    this.#store = store
    this.#options = options
  }

  /** The cursor as the store has it once everything before is written. Rejects with a {@link SyncClientError}. */
  async load(entry: string): Promise<string | null> {
    await this.#writes
    return await attempt('read', async () => (await this.#store.get(entry)) || null)
  }

  save(entry: string, cursor: string): void {
    this.#unsaved.set(entry, cursor)
    this.#writes = this.#writes.then(() => this.#write(entry))
  }

  /** Rejects with a {@link SyncClientError} when the cursor may still be there. */
  delete(entry: string): Promise<void> {
    this.#unsaved.delete(entry)
    const deleted = this.#writes.then(() => attempt('deleted', async () => await this.#store.delete(entry)))
    this.#writes = deleted.catch(this.#options.onFailed)
    return deleted
  }

  async #write(entry: string): Promise<void> {
    const cursor = this.#unsaved.get(entry)
    if (cursor === undefined) return
    this.#unsaved.delete(entry)
    try {
      await attempt('written', async () => await this.#store.set(entry, cursor))
      this.#options.onSaved()
    } catch (error) {
      this.#options.onFailed(error as SyncClientError)
    }
  }
}

async function attempt<R>(what: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (cause) {
    throw new SyncClientError('store', `the cursor could not be ${what}; following goes on from memory`, { cause })
  }
}
