import { serverFloorMs } from './pause.ts'
import type { WireChange, WireResyncReason } from './protocol.ts'

/** Why what was read so far must be read anew: the server's reason, or `start` where following begins at the head. */
export type ResyncReason = WireResyncReason | 'start'

/** What is to be delivered to the listeners, and where the feed stands once they are done. */
export interface Delivery {
  /** `null` for a page of changes. */
  readonly reason: ResyncReason | null
  readonly changes: readonly WireChange[]
  readonly cursor: string
  readonly hasMore: boolean
  readonly upToDate: boolean
}

/** A well-formed answer of `changes`: nothing to deliver when it was held. */
export interface Answer {
  readonly delivery: Delivery | null
  /** How long the server asked to be left alone; 0 when it did not say. */
  readonly floorMs: number
}

/**
 * Reads an answer of `changes`; `null` when it is none. A type does not cross the network: a proxy's page, or another
 * transformer on the server, must not become a cursor or an empty feed.
 */
export function readAnswer(output: unknown, since: string): Answer | null {
  if (!isRecord(output)) return null
  const { changes, cursor, hasMore, upToDate, held, resync } = output
  if (isRecord(resync)) {
    const { reason, from, retryAfterMs } = resync
    if (!isCursor(from) || typeof reason !== 'string') return null
    // The set of reasons is closed for one version of the wire; one that is new here asks for the same step.
    const delivery = { reason: reason as WireResyncReason, changes: [], cursor: from, hasMore: true, upToDate: false }
    return { delivery, floorMs: serverFloorMs(retryAfterMs) }
  }
  if (held === true) return { delivery: null, floorMs: serverFloorMs(output['retryAfterMs']) }
  if (!Array.isArray(changes) || !changes.every(isChange) || !isCursor(cursor)) return null
  if (typeof hasMore !== 'boolean' || typeof upToDate !== 'boolean') return null
  // A page that promises more but stands still would be asked for without end.
  if (hasMore && cursor === since) return null
  return { delivery: { reason: since === 'now' ? 'start' : null, changes, cursor, hasMore, upToDate }, floorMs: 0 }
}

function isChange(value: unknown): value is WireChange {
  return isRecord(value) && typeof value['table'] === 'string'
}

function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
