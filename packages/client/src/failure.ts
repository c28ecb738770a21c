import { SyncClientError, type SyncClientErrorCode } from './errors.ts'
import { serverFloorMs } from './pause.ts'
import type { SyncErrorCode } from './protocol.ts'

/** A request that brought no usable answer, and what follows from it. */
export interface Failure {
  readonly error: SyncClientError
  /** `backoff` and `growing` are pauses (`pause.ts`); `stop` ends the loop until someone acts. */
  readonly next: 'backoff' | 'growing' | 'stop'
  /** How long the server asked to be left alone; 0 when it did not say. */
  readonly floorMs: number
}

/** The same request can only be refused again, whatever the HTTP status. */
const FAULTY_INPUT: ReadonlySet<unknown> = new Set<SyncErrorCode>([
  'invalidInput',
  'invalidCursor',
  'unknownTable',
  'scopedTable',
  'payloadTooLarge',
])

export function timeoutFailure(): Failure {
  return { error: new SyncClientError('timeout', 'no answer in time'), next: 'backoff', floorMs: 0 }
}

export function protocolFailure(): Failure {
  const message = 'not an answer of "changes": check the path, and the transformer on both sides'
  return { error: new SyncClientError('protocol', message), next: 'growing', floorMs: 0 }
}

/**
 * Sorts what a tRPC call threw. Read by shape, since the app may bring its own links and error formatter:
 * `data.httpStatus`, else the status of the HTTP response; `data.tidemark` when the formatter passes it on.
 */
export function failureOf(thrown: unknown): Failure {
  const data = member(thrown, 'data')
  const response = member(member(thrown, 'meta'), 'response')
  const httpStatus =
    [member(data, 'httpStatus'), member(response, 'status')].find((status) => typeof status === 'number') ?? null
  const serverCode = (member(member(data, 'tidemark'), 'code') as SyncErrorCode | undefined) ?? null
  const [code, next] = verdict(httpStatus, serverCode, thrown)
  const message =
    httpStatus === null
      ? 'no readable answer'
      : `the server answered ${httpStatus}${serverCode === null ? '' : ` (${serverCode})`}`
  return {
    error: new SyncClientError(code, message, { httpStatus, serverCode, cause: thrown }),
    next,
    floorMs: Math.max(
      serverFloorMs(member(data, 'retryAfterMs')),
      serverFloorMs(retryAfterMs(member(response, 'headers'))),
    ),
  }
}

function verdict(
  status: number | null,
  serverCode: SyncErrorCode | null,
  thrown: unknown,
): [SyncClientErrorCode, Failure['next']] {
  if (FAULTY_INPUT.has(serverCode) || status === 400 || status === 422) return ['rejected', 'stop']
  // All that tRPC tells of an answer that is not JSON, such as a proxy's page, is what the parser threw.
  if (status === null)
    return [member(member(thrown, 'cause'), 'name') === 'SyntaxError' ? 'protocol' : 'network', 'backoff']
  if (status === 401 || status === 403) return ['unauthorized', 'growing']
  if (status >= 500 || status === 408 || status === 425 || status === 429) return ['unavailable', 'backoff']
  return [status >= 400 ? 'rejected' : 'protocol', 'growing']
}

/** `Retry-After` in either form. A date is measured against the server's own `Date`, never the device's clock. */
function retryAfterMs(headers: unknown): number {
  const header = (name: string): string => (headers as Partial<Headers> | undefined)?.get?.(name) ?? ''
  const retryAfter = header('retry-after')
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.parse(header('date'))
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}
