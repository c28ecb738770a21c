import { useCallback, useEffect, useRef, useState } from 'react'
import { errorText } from '../error-text.ts'

const SHORTEST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

/** Something read from the server. */
export interface Loaded<R> {
  /** What was read last; stays while it is read anew. */
  readonly data: R | undefined
  /** How often it was read. */
  readonly reads: number
  readonly loading: boolean
  /** Why the last attempt failed; it is tried again by itself. */
  readonly error: string | null
  /** Tries again now. */
  retry(): void
}

/**
 * Reads with `load`, and anew whenever `version` moves or `load` is another function (memoise it). A read that is no longer wanted is
 * aborted; one that fails is tried again in growing pauses.
 */
export function useLoaded<R>(load: (signal: AbortSignal) => Promise<R>, version: number): Loaded<R> {
  const [state, setState] = useState<Omit<Loaded<R>, 'retry'>>({
    data: undefined,
    reads: 0,
    loading: true,
    error: null,
  })
  const [attempt, setAttempt] = useState(0)
  const failures = useRef(0)
  const retry = useCallback(() => setAttempt((n) => n + 1), [])

  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    setState((before) => ({ ...before, loading: true }))
    load(abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return
        failures.current = 0
        setState((before) => ({ data, reads: before.reads + 1, loading: false, error: null }))
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        timer = setTimeout(retry, Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** failures.current))
        failures.current += 1
        setState((before) => ({ ...before, loading: false, error: errorText(error) }))
      },
    )
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [load, version, attempt, retry])

  return { ...state, retry }
}
