/** Input of `POST /session`: signs in for a company. */
export interface SignInRequest {
  readonly company: string
}

/** Input of `POST /session/refresh`. */
export interface RefreshRequest {
  readonly refreshToken: string
}

/** Answer of `POST /session/refresh`, and part of that of `POST /session`. */
export interface AccessGrant {
  /** Bearer token for the procedures. */
  readonly accessToken: string
  /** How long it is good for, in seconds from now: the device's clock need not be right. */
  readonly expiresInSeconds: number
}

/** Answer of `POST /session`. */
export interface SignInAnswer extends AccessGrant {
  readonly refreshToken: string
}

/** Answer to what was refused, with status 400, 401, 413 or 500. */
export interface SessionRefusal {
  readonly error: string
}
