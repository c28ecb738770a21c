import type { SyncEnvironment } from '../../src/index.ts'

interface FakeTimer {
  readonly due: number
  readonly callback: () => void
}

/**
 * Time that moves only when told to, jitter that is always the same, and a page that is hidden or offline on demand.
 */
export class FakeEnvironment implements SyncEnvironment {
  /** What `random()` draws. */
  draw = 0.5
  now = 0
  readonly #timers = new Set<FakeTimer>()
  readonly #listeners = new Set<() => void>()
  #visible = true
  #online = true

  readonly setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { due: this.now + ms, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }
  readonly random = (): number => this.draw
  readonly isVisible = (): boolean => this.#visible
  readonly isOnline = (): boolean => this.#online
  readonly onActivity = (callback: () => void): (() => void) => {
    this.#listeners.add(callback)
    return () => void this.#listeners.delete(callback)
  }

  /** Milliseconds until each timer that is set, soonest first. */
  get pending(): readonly number[] {
    return [...this.#timers].map((timer) => timer.due - this.now).sort((a, b) => a - b)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }

  /** Moves the time on; everything that becomes due runs in order, with all that follows from it. */
  async advance(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      await settle()
      const next = [...this.#timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0]
      if (next === undefined) break
      this.now = Math.max(this.now, next.due)
      this.#timers.delete(next)
      next.callback()
    }
    this.now = end
    await settle()
  }

  async setVisible(visible: boolean): Promise<void> {
    this.#visible = visible
    await this.#tell()
  }

  async setOnline(online: boolean): Promise<void> {
    this.#online = online
    await this.#tell()
  }

  async #tell(): Promise<void> {
    for (const listener of [...this.#listeners]) listener()
    await settle()
  }
}

/** Lets every promise that can go on without time or network go on. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
}
