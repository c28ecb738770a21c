import { useCallback, useEffect, useRef, useState } from 'react'
import { errorText } from '../error-text.ts'

/** Something a person starts. */
export interface Action<A extends readonly unknown[]> {
  /** Starts it unless it is under way. */
  run(...args: A): void
  readonly busy: boolean
  /** Why the last run failed, in words; `null` when it did not. */
  readonly error: string | null
}

/** Runs an async function at a person's wish, one run at a time, and shows how it goes. */
export function useAction<A extends readonly unknown[]>(work: (...args: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<{ readonly busy: boolean; readonly error: string | null }>({
    busy: false,
    error: null,
  })
  const running = useRef(false)
  const latest = useRef(work)
  useEffect(() => {
    latest.current = work
  })
  const run = useCallback((...args: A) => {
    if (running.current) return
    running.current = true
    setState({ busy: true, error: null })
    const end = (error: string | null): void => {
      running.current = false
      setState({ busy: false, error })
    }
    latest.current(...args).then(
      () => end(null),
      (error: unknown) => end(errorText(error)),
    )
  }, [])
  return { run, ...state }
}
