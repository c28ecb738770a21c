/** Why, and so how long, to pause before the next request. */
export type Pause =
  /** The ordinary rhythm. */
  | { readonly kind: 'interval' }
  /**
   * After a fault that may pass: full jitter below a ceiling that doubles to 30 s, on top of what the server asked for.
   */
  | { readonly kind: 'backoff'; readonly attempt: number; readonly floorMs: number }
  /** After a fault that someone has to mend: never shorter than half its ceiling, which doubles to 60 s. */
  | { readonly kind: 'growing'; readonly attempt: number; readonly floorMs: number }

const BASE_MS = 500
const BACKOFF_CEILING_MS = 30_000
const GROWING_CEILING_MS = 60_000
/** Keeps the smallest draws of the jitter from becoming a burst. */
const SHORTEST_MS = 100
/** Longest pause a server can ask for; timers of browsers and Node fire at once beyond 24 days. */
const LONGEST_MS = 3_600_000

/** What a server asked for, as milliseconds between 0 and one hour; anything that is no number is 0. */
export function serverFloorMs(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, LONGEST_MS) : 0
}

/**
 * Length of a pause in milliseconds; `random` draws from [0, 1). Clients told the same floor still come back spread
 * out.
 */
export function pauseMs(pause: Pause, intervalMs: number, random: () => number): number {
  if (pause.kind === 'interval') return intervalMs * (0.9 + 0.2 * random())
  const [share, longest] = pause.kind === 'growing' ? [0.5, GROWING_CEILING_MS] : [0, BACKOFF_CEILING_MS]
  const ceiling = Math.min(longest, BASE_MS * 2 ** (pause.attempt - 1))
  return Math.max(SHORTEST_MS, pause.floorMs + (share + (1 - share) * random()) * ceiling)
}
