import { Window } from 'happy-dom'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultEnvironment } from '../src/index.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('defaultEnvironment', () => {
  it('is visible and online where there is no page', () => {
    vi.stubGlobal('navigator', undefined)
    const environment = defaultEnvironment()
    expect(environment.isVisible()).toBe(true)
    expect(environment.isOnline()).toBe(true)
    environment.onActivity(() => {})()
    vi.stubGlobal('navigator', { userAgent: 'Node.js/22' })
    expect(environment.isOnline()).toBe(true)
  })

  it('reads and watches the page and the network of a browser', () => {
    const window = new Window()
    vi.stubGlobal('document', window.document)
    vi.stubGlobal('navigator', { onLine: false })
    const sources = new EventTarget()
    vi.stubGlobal('addEventListener', sources.addEventListener.bind(sources))
    vi.stubGlobal('removeEventListener', sources.removeEventListener.bind(sources))
    const environment = defaultEnvironment()
    expect(environment.isOnline()).toBe(false)
    expect(environment.isVisible()).toBe(true)
    Object.defineProperty(window.document, 'visibilityState', { value: 'hidden', configurable: true })
    expect(environment.isVisible()).toBe(false)

    let calls = 0
    const stop = environment.onActivity(() => (calls += 1))
    sources.dispatchEvent(new Event('online'))
    sources.dispatchEvent(new Event('offline'))
    window.document.dispatchEvent(new window.Event('visibilitychange'))
    expect(calls).toBe(3)
    stop()
    sources.dispatchEvent(new Event('online'))
    window.document.dispatchEvent(new window.Event('visibilitychange'))
    expect(calls).toBe(3)
  })

  it('sets timers that can be cancelled, and draws from [0, 1)', () => {
    vi.useFakeTimers()
    const environment = defaultEnvironment()
    let calls = 0
    environment.setTimer(() => (calls += 1), 100)
    environment.setTimer(() => (calls += 1), 100)()
    vi.advanceTimersByTime(100)
    expect(calls).toBe(1)
    for (let draw = 0; draw < 100; draw += 1) {
      const value = environment.random()
      expect(value >= 0 && value < 1).toBe(true)
    }
  })
})
