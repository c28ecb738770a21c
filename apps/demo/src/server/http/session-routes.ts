import { json, type NextFunction, type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { companies, findCompany } from '../../shared/companies.ts'
import type { AccessGrant, SessionRefusal, SignInAnswer } from '../../shared/session.ts'
import { ACCESS_SECONDS, type Tokens } from '../auth/tokens.ts'

const signInRequest = z.strictObject({ company: z.string() })
const refreshRequest = z.strictObject({ refreshToken: z.string().max(4096) })

/**
 * `POST /` signs in, `POST /refresh` gives the next access token. There are no passwords: whoever reaches the demo may act
 * for either company.
 */
export function sessionRoutes(tokens: Tokens): Router {
  const router = Router()
  router.use(json({ limit: '8kb' }), (_request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Cache-Control', 'no-store')
    next()
  })

  router.post('/', async (request: Request, response: Response<SignInAnswer | SessionRefusal>) => {
    const company = findCompany(signInRequest.safeParse(request.body).data?.company)
    if (company === undefined) {
      response.status(400).json({ error: `"company" must be one of: ${companies.map(({ id }) => id).join(', ')}` })
      return
    }
    const [accessToken, refreshToken] = await Promise.all([tokens.issueAccess(company), tokens.issueRefresh(company)])
    response.json({ accessToken, expiresInSeconds: ACCESS_SECONDS, refreshToken })
  })

  router.post('/refresh', async (request: Request, response: Response<AccessGrant | SessionRefusal>) => {
    const input = refreshRequest.safeParse(request.body)
    if (!input.success) {
      response.status(400).json({ error: '"refreshToken" must be the token that POST /session gave' })
      return
    }
    const company = await tokens.readRefresh(input.data.refreshToken)
    if (company === undefined) {
      response.status(401).json({ error: 'the sign-in has ended: choose a company again' })
      return
    }
    response.json({ accessToken: await tokens.issueAccess(company), expiresInSeconds: ACCESS_SECONDS })
  })
  return router
}
