/** Callbacks in the order of their coming. The same function may be added twice and is then called twice. */
export class Listeners<A> {
  readonly #added = new Set<{ readonly call: (argument: A) => unknown }>()

  /** Returns the function that removes it; calling that twice does nothing more. */
  add(call: (argument: A) => unknown): () => void {
    const record = { call }
    this.#added.add(record)
    return () => void this.#added.delete(record)
  }

  /**
   * Calls all that are there now, at once, and waits for each to end; rejects with the first error once all have ended.
   */
  async run(argument: A): Promise<void> {
    const ends = await Promise.allSettled([...this.#added].map(async ({ call }) => void (await call(argument))))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /**
   * Calls all that are there now; what one throws surfaces as an uncaught error and keeps none of the others from being
   * called.
   */
  notify(argument: A): void {
    for (const { call } of [...this.#added]) surfacing(() => call(argument))
  }
}

/** Runs the app's callback where no caller could handle its error: thrown again outside, so that it is not lost. */
export function surfacing(callback: () => unknown): void {
  try {
    callback()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
