import { jwtVerify, SignJWT } from 'jose'
import { jwtAuth, type Authenticate } from '@tidemark/api'
import { type Company, findCompany } from '../../shared/companies.ts'

const ISSUER = 'tidemark-demo'
const ALGORITHM = 'HS256'
/** The procedures accept only tokens for them, so a refresh token opens nothing but the door to the next access token. */
const AUDIENCES = { access: 'tidemark-demo/trpc', refresh: 'tidemark-demo/session' } as const

/** Lifetime of a token that the procedures accept. */
export const ACCESS_SECONDS = 5 * 60
/** Lifetime of a sign-in: after it a company is chosen anew. */
export const REFRESH_SECONDS = 12 * 60 * 60

/** Signs and checks the demo's tokens. */
export interface Tokens {
  /** A short-lived token for the procedures. */
  issueAccess(company: Company): Promise<string>
  /** A token that yields access tokens for as long as a sign-in lasts. */
  issueRefresh(company: Company): Promise<string>
  /** Whose refresh token it is; `undefined` when it is none, or has expired. */
  readRefresh(token: string): Promise<Company | undefined>
  /** Verifies the access token of a request. */
  readonly authenticate: Authenticate
}

/**
 * @param secret at least 32 bytes.
 * @param now the clock, for signing and checking alike.
 */
export function createTokens(secret: Uint8Array, now: () => Date): Tokens {
  const issue = async (kind: keyof typeof AUDIENCES, company: Company, seconds: number): Promise<string> => {
    const issuedAt = Math.floor(now().getTime() / 1000)
    return await new SignJWT({ company: company.id })
      .setProtectedHeader({ alg: ALGORITHM })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCES[kind])
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + seconds)
      .sign(secret)
  }
  return {
    issueAccess: (company) => issue('access', company, ACCESS_SECONDS),
    issueRefresh: (company) => issue('refresh', company, REFRESH_SECONDS),
    readRefresh: async (token) => {
      try {
        const rules = { algorithms: [ALGORITHM], issuer: ISSUER, audience: AUDIENCES.refresh, requiredClaims: ['exp'] }
        const { payload } = await jwtVerify(token, secret, { ...rules, currentDate: now() })
        return findCompany(payload['company'])
      } catch {
        return undefined
      }
    },
    authenticate: jwtAuth({
      key: secret,
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCES.access,
      tenantClaim: 'company',
      now,
    }),
  }
}
