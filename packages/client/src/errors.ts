import type { SyncErrorCode } from './protocol.ts'

/**
 * What went wrong while following the feed:
 *
 * | code | meaning | what the client does by itself |
 * |---|---|---|
 * | `network` | no answer arrived | tries again, back-off up to 30 s |
 * | `timeout` | no answer in time, the request was aborted | tries again, back-off up to 30 s |
 * | `unavailable` | the server answered 5xx, 408, 425 or 429 | tries again, no sooner than the server asked |
 * | `unauthorized` | the server answered 401 or 403 | tries again in growing pauses up to 60 s; sign in |
 * | `rejected` | the server refused the request (another 4xx) | stops if the input is at fault, else growing pauses |
 * | `protocol` | the answer is not one of `changes`, or not JSON (a proxy's page) | tries again in pauses up to 60 s |
 * | `resyncLoop` | the server demanded a resync five times in a row | goes on in growing pauses |
 * | `listener` | a listener threw: its page comes again | tries again, back-off up to 30 s |
 * | `store` | the cursor could not be read, written or deleted | goes on from memory |
 */
export type SyncClientErrorCode =
  | 'network'
  | 'timeout'
  | 'unavailable'
  | 'unauthorized'
  | 'rejected'
  | 'protocol'
  | 'resyncLoop'
  | 'listener'
  | 'store'

/** What is known of the server's answer, when there was one. */
export interface SyncClientErrorOptions {
  readonly httpStatus?: number | null
  readonly serverCode?: SyncErrorCode | null
  readonly cause?: unknown
}

/**
 * The one error of this package. Switch on `code`; the message is for people. What was thrown, such as tRPC's
 * `TRPCClientError` or the listener's own error, is the `cause`.
 *
 * Wrong arguments are a `TypeError` that names the option instead: they are the programmer's to mend.
 */
export class SyncClientError extends Error {
  readonly code: SyncClientErrorCode
  /** HTTP status of the answer, also of one call within a batch; `null` when no answer arrived. */
  readonly httpStatus: number | null
  /**
   * The server's own code, such as `invalidCursor`, when its error formatter passes it on (`tidemarkErrorShape`); else
   * `null`.
   */
  readonly serverCode: SyncErrorCode | null

  constructor(
    code: SyncClientErrorCode,
    message: string,
    { httpStatus = null, serverCode = null, cause }: SyncClientErrorOptions = {},
  ) {
    super(message, { cause })
    this.name = 'SyncClientError'
    this.code = code
    this.httpStatus = httpStatus
    this.serverCode = serverCode
  }
}
