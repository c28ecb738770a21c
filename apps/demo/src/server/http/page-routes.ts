import { existsSync } from 'node:fs'
import { join } from 'node:path'
import express, { type Request, type Response, Router } from 'express'

/** Serves the built page; without one, says how to build it. */
export function pageRoutes(folder: string): Router {
  const router = Router()
  router.use((_request, response, next) => {
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Referrer-Policy', 'no-referrer')
    next()
  })
  // Files below assets/ have a hash of their content in their names; the page itself must always be asked for anew.
  router.use(
    '/assets',
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false }),
  )
  router.use(
    express.static(folder, {
      redirect: false,
      setHeaders: (response) => response.setHeader('Cache-Control', 'no-cache'),
    }),
  )
  router.get('/', (_request: Request, response: Response) => {
    response.status(503).type('text/plain').send('The page is not built yet. Run: pnpm --filter @tidemark/demo build\n')
  })
  return router
}

/** Whether there is a built page in the folder. */
export function isPageBuilt(folder: string): boolean {
  return existsSync(join(folder, 'index.html'))
}
