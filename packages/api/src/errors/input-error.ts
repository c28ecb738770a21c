import { core } from 'zod'

/** Whether an input was decoded but does not have the right shape. */
export function isInputError(error: unknown): error is core.$ZodError {
  return error instanceof core.$ZodError
}

/** The first thing that is wrong with an input: which field, and what to send instead. */
export function toInputDetails(error: core.$ZodError): { readonly message: string; readonly field?: string } {
  const [issue] = error.issues
  if (issue === undefined) return { message: 'the input is not valid' }
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  const field = fieldName(path)
  return field === undefined ? { message: issue.message } : { message: `"${field}": ${issue.message}`, field }
}

// Names in a path may come from the caller; one that is no plain name is left out of the text with all that follows.
function fieldName(path: readonly PropertyKey[]): string | undefined {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (typeof part === 'string' && /^\w{1,63}$/.test(part)) text += text === '' ? part : `.${part}`
    else break
  }
  return text === '' ? undefined : text
}
