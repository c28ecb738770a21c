import { undecodable } from '../errors/to-sync-error.ts'
import { SyncError } from '../errors/sync-error.ts'

/**
 * What a body parser that ran before the mount refused, in our own words; `undefined` for an error of anything else.
 * Known by the `type` that body-parser documents for its errors.
 */
export function bodyError(error: unknown): SyncError | undefined {
  if (typeof error !== 'object' || error === null || !('type' in error) || !('status' in error)) return undefined
  if (tooLarge.has(error.type)) return new SyncError('payloadTooLarge', { cause: error })
  return unreadable.has(error.type) ? new SyncError('invalidInput', { ...undecodable, cause: error }) : undefined
}

/** The error for a body that says it is larger than `max` bytes; `undefined` when it does not say so. */
export function announcedTooLarge(contentLength: string | undefined, max: number): SyncError | undefined {
  return Number(contentLength ?? 0) > max ? new SyncError('payloadTooLarge') : undefined
}

const tooLarge: ReadonlySet<unknown> = new Set(['entity.too.large', 'parameters.too.many'])

const unreadable: ReadonlySet<unknown> = new Set([
  'charset.unsupported',
  'encoding.unsupported',
  'entity.parse.failed',
  'entity.verify.failed',
  'querystring.parse.rangeError',
  'request.size.invalid',
])
