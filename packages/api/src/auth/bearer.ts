/**
 * The part of a request that {@link bearerToken} looks at: Node's `IncomingMessage`, Express' `Request` and anything
 * with a WHATWG `Headers` fit.
 */
export interface RequestHeaders {
  readonly headers:
    | { get(name: string): string | null }
    | { readonly [name: string]: string | readonly string[] | undefined }
  /** Node's list of names and values in turn; it alone shows that a header came twice. */
  readonly rawHeaders?: readonly string[]
}

/** A bearer token, or why there is none. */
export type BearerResult = { readonly token: string } | { readonly failure: 'missing' | 'malformed' }

// RFC 6750, section 2.1: token68 and nothing behind it, so that two joined headers never pass.
const bearer = /^bearer +([a-z0-9\-._~+/]+=*)$/i

/**
 * Reads the bearer token of a request from its `Authorization` header, and from nowhere else: a token in a URL ends up
 * in logs, histories and caches.
 */
export function bearerToken(request: RequestHeaders): BearerResult {
  const value = authorization(request.headers)
  if (value === null) return { failure: 'missing' }
  // Node's `headers` keeps the first of several and drops the rest without a word. Which of two would count depends on
  // who reads them, so neither does.
  const sent =
    request.rawHeaders?.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'authorization').length ?? 1
  const token = sent > 1 ? undefined : bearer.exec(value.trim())?.[1]
  return token === undefined ? { failure: 'malformed' } : { token }
}

function authorization(headers: RequestHeaders['headers']): string | null {
  if (isWhatwg(headers)) return headers.get('authorization')
  const value = headers['authorization']
  return typeof value === 'object' ? value.join(', ') : (value ?? null)
}

function isWhatwg(headers: RequestHeaders['headers']): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function'
}
