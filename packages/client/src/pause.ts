/** Why, and so how long, to pause before the next request. */
export type Pause =
  /** The ordinary rhythm. */
  | { readonly kind: 'interval' }
  /** After a fault that may pass: full jitter below a ceiling that doubles to 30 s, on top of what the server asked for. */
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

/** Length of a pause in milliseconds; `random` draws from [0, 1). Clients told the same floor still come back spread out. */
export function pauseMs(pause: Pause, intervalMs: number, random: () => number): number {
  switch (pause.kind) {
    case 'interval':
      return intervalMs * (0.9 + 0.2 * random())
    case 'backoff':
      return Math.max(SHORTEST_MS, pause.floorMs + random() * ceilingMs(pause.attempt, BACKOFF_CEILING_MS))
    case 'growing':
      return pause.floorMs + (0.5 + 0.5 * random()) * ceilingMs(pause.attempt, GROWING_CEILING_MS)
  }
}

function ceilingMs(attempt: number, ceiling: number): number {
  return Math.min(ceiling, BASE_MS * 2 ** (Math.max(attempt, 1) - 1))
}
