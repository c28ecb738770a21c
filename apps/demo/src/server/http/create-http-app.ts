import { originalError } from '@tidemark/api'
import { createSyncExpress } from '@tidemark/api/express'
import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import type { Tokens } from '../auth/tokens.ts'
import type { AppRouter } from '../routers/app-router.ts'
import { sessionRoutes } from './session-routes.ts'

/**
 * Everything that is served: `/session`, `/trpc` and the page.
 *
 * @param log told what a caller is not told.
 */
export function createHttpApp(
  router: AppRouter,
  tokens: Tokens,
  page: RequestHandler,
  log: (error: unknown) => void,
): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use('/session', sessionRoutes(tokens))
  app.use(
    '/trpc',
    createSyncExpress({
      router,
      auth: tokens.authenticate,
      onError: ({ error }) => {
        if (error.code === 'INTERNAL_SERVER_ERROR') log(originalError(error))
      },
    }),
  )
  app.use(page)
  app.use((_request: Request, response: Response) => {
    response.status(404).json({ error: 'there is nothing here' })
  })
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error)
    const status = clientStatus(error)
    if (status === undefined) log(error)
    response
      .status(status ?? 500)
      .json({ error: status === undefined ? 'something went wrong on the server' : 'the request cannot be read' })
  })
  return app
}

/** The status of what the caller sent wrong (a body that is no JSON, or too large), as Express' own parsers mark it. */
function clientStatus(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}
