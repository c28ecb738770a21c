import type { ChangesPageOutput, ChangesResyncOutput, NotifyOutput, SyncErrorData } from '../../src/index.ts'
import type { Answer } from './http.ts'

/** An error as the test apps send it. */
export interface SentError {
  readonly code: number
  readonly message: string
  readonly data: {
    readonly code: string
    readonly httpStatus: number
    readonly path?: string
    readonly tidemark: SyncErrorData | null
  }
}

/** What a procedure may have answered; a test reads what it expects and fails on the rest. */
export type SentData = ChangesPageOutput & ChangesResyncOutput & NotifyOutput

interface Enveloped<T> {
  readonly json?: T
}

/** The data of an answer, with or without superjson's envelope. */
export function sentData(answer: Answer): SentData {
  const { result } = answer.json as { result?: { data: SentData & Enveloped<SentData> } }
  if (result === undefined) throw new Error(`not a result: ${answer.text}`)
  return result.data.json ?? result.data
}

/** The error of an answer, with or without superjson's envelope. */
export function sentError(answer: Answer): SentError {
  const { error } = answer.json as { error?: SentError & Enveloped<SentError> }
  if (error === undefined) throw new Error(`not an error: ${answer.text}`)
  return error.json ?? error
}
