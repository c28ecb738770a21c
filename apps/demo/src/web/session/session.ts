import type { CompanyId } from '../../shared/companies.ts'
import type { AccessGrant, RefreshRequest, SignInAnswer, SignInRequest } from '../../shared/session.ts'

/** A token is replaced when it has less than this left, so that none expires on its way. */
const SPARE_MS = 30_000

/** What survives a reload of the tab. */
export interface SavedSession {
  readonly company: CompanyId
  readonly refreshToken: string
}

/** Options of a {@link Session}. */
export interface SessionOptions {
  /** Called when the sign-in has ended by itself. */
  readonly onEnded: () => void
  /** Where the server is. Default: where the page came from. */
  readonly origin?: string
}

/** The sign-in has ended: only choosing a company again helps. */
export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError'
}

/**
 * A sign-in: sends requests with an access token and gets the next one before it runs out, or when the server no longer takes it. Access tokens are
 * held in memory only.
 */
export class Session {
  readonly company: CompanyId
  readonly saved: SavedSession
  /** Where the server is: `''` for the page's own. */
  readonly origin: string
  readonly #onEnded: () => void
  #access: { readonly token: string; readonly freshUntil: number } | null = null
  #renewing: Promise<string> | null = null

  constructor(saved: SavedSession, options: SessionOptions, grant?: AccessGrant) {
    this.company = saved.company
    this.saved = saved
    this.origin = options.origin ?? ''
    this.#onEnded = options.onEnded
    if (grant !== undefined) this.#keep(grant)
  }

  /** `fetch` as this company. */
  fetch = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const token = await this.#token()
    const response = await send(url, init, token)
    if (response.status !== 401) return response
    // Another secret after a restart, or a clock that jumped: one new token, one more try.
    return await send(url, init, await this.#renew(token))
  }

  async #token(): Promise<string> {
    const access = this.#access
    return access !== null && performance.now() < access.freshUntil ? access.token : await this.#renew(access?.token)
  }

  /** Requests that come together share one renewal; one that came late uses what the others got. */
  async #renew(refused: string | undefined): Promise<string> {
    if (this.#access !== null && this.#access.token !== refused) return this.#access.token
    this.#renewing ??= this.#requestToken().finally(() => (this.#renewing = null))
    return await this.#renewing
  }

  async #requestToken(): Promise<string> {
    const request: RefreshRequest = { refreshToken: this.saved.refreshToken }
    const response = await post(`${this.origin}/session/refresh`, request)
    if (response.status === 401 || response.status === 400) {
      this.#onEnded()
      throw new SessionEndedError('the sign-in has ended')
    }
    return this.#keep(await answerOf<AccessGrant>(response))
  }

  #keep({ accessToken, expiresInSeconds }: AccessGrant): string {
    this.#access = { token: accessToken, freshUntil: performance.now() + expiresInSeconds * 1000 - SPARE_MS }
    return accessToken
  }
}

/** Signs in for a company. */
export async function signIn(company: CompanyId, options: SessionOptions): Promise<Session> {
  const request: SignInRequest = { company }
  const { refreshToken, ...grant } = await answerOf<SignInAnswer>(
    await post(`${options.origin ?? ''}/session`, request),
  )
  return new Session({ company, refreshToken }, options, grant)
}

function send(url: string | URL | Request, init: RequestInit, token: string): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return fetch(url, { ...init, headers })
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

async function answerOf<A>(response: Response): Promise<A> {
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  return (await response.json()) as A
}
