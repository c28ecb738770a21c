import { TidemarkError } from '@tidemark/core'
import type { AnyTidemarkError } from '@tidemark/core'
import { TRPCError } from '@trpc/server'
import { wireCodes } from './error-map.ts'
import { isInputError, toInputDetails } from './input-error.ts'
import { SyncError } from './sync-error.ts'
import type { SyncErrorDetails } from './sync-error.ts'

/**
 * Turns whatever stopped one of our procedures into what may be sent. Only errors about the caller's input speak for
 * themselves, since core's messages on input hold nothing but the caller's words and public names; all others get a
 * fixed message.
 */
export function toSyncError(error: unknown): SyncError {
  if (error instanceof SyncError) return error
  if (error instanceof TRPCError) return fromTrpc(error)
  return fromCore(error) ?? new SyncError('internal', { cause: error })
}

// tRPC wraps what a procedure throws; its own errors here are those of reading and decoding the input.
function fromTrpc(error: TRPCError): SyncError {
  const { cause } = error
  if (cause instanceof SyncError) return cause
  if (isInputError(cause)) return new SyncError('invalidInput', { ...toInputDetails(cause), cause })
  const known = fromCore(cause)
  if (known !== undefined) return known
  if (error.code === 'PAYLOAD_TOO_LARGE') return new SyncError('payloadTooLarge', { cause: error })
  if (error.code === 'BAD_REQUEST') return new SyncError('invalidInput', { ...undecodable, cause: error })
  return new SyncError('internal', { cause: cause ?? error })
}

function fromCore(error: unknown): SyncError | undefined {
  if (!isKnown(error)) return undefined
  const code = wireCodes[error.code]
  const speaks = code === 'invalidInput' || code === 'unknownTable' || code === 'invalidCursor'
  const field = speaks && 'field' in error ? error.field : undefined
  return new SyncError(code, {
    cause: error,
    ...(speaks ? { message: error.message } : {}),
    ...(field === undefined ? {} : { field }),
  })
}

function isKnown(error: unknown): error is AnyTidemarkError {
  return error instanceof TidemarkError && Object.hasOwn(wireCodes, error.code)
}

/** What is said of an input that could not be read at all. */
export const undecodable: SyncErrorDetails = {
  message: "the input cannot be decoded; send JSON in the form of the server's transformer",
}
