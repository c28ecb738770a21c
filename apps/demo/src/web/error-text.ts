import { isTRPCClientError } from '@trpc/client'

/** What to tell a person about an error, without a full stop. */
export function errorText(error: unknown): string {
  // An error without data never came from the server's procedures.
  if (isTRPCClientError(error) && error.data === undefined) return 'the server does not answer'
  if (error instanceof TypeError) return 'the server does not answer'
  return error instanceof Error ? error.message : 'something went wrong'
}
