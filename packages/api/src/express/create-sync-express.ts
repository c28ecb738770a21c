import { TRPCError } from '@trpc/server'
import type { inferRouterContext } from '@trpc/server'
import { nodeHTTPRequestHandler } from '@trpc/server/adapters/node-http'
import type { NodeHTTPRequestHandlerOptions } from '@trpc/server/adapters/node-http'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { unverifiedAuth } from '../auth/sync-auth.ts'
import type { SyncAuth } from '../auth/sync-auth.ts'
import { callHook } from '../errors/report.ts'
import { SyncError } from '../errors/sync-error.ts'
import { announcedTooLarge, bodyError } from './body-error.ts'
import type { RouterWithAuth, SyncExpressContextOptions, SyncExpressHandlers, SyncExpressOptions } from './options.ts'
import { procedurePath } from './procedure-path.ts'
import { withoutStacks } from './without-stacks.ts'

/**
 * Serves a tRPC router under Express 5, with `ctx.auth` filled in: under any prefix, in nested routers, before or after
 * body parsers.
 *
 * Queries may come by GET or POST, so that long cursors need no long URLs. Every answer, errors and batches too,
 * carries `Cache-Control: no-store`. No answer carries a stack trace, whatever `isDev` says. `req.query` is neither
 * read nor written.
 *
 * @returns a pair that `app.use` and `router.use` take as it is.
 * @throws {TypeError} when an option is missing or out of bounds.
 * @example
 * ```ts
 * app.use('/trpc', createSyncExpress({ router: appRouter, auth: jwtAuth({ … }) }))
 * ```
 */
export function createSyncExpress<R extends RouterWithAuth>(options: SyncExpressOptions<R>): SyncExpressHandlers {
  const { auth, maxBodyBytes = 1_048_576, maxBatchSize = 100 } = options
  if (typeof options.router?._def !== 'object') throw new TypeError('createSyncExpress: "router" must be a tRPC router')
  if (typeof auth !== 'function')
    throw new TypeError('createSyncExpress: "auth" must be a function, such as jwtAuth(…)')
  positive('maxBodyBytes', maxBodyBytes)
  positive('maxBatchSize', maxBatchSize)

  const onError = options.onError as ((event: object) => void) | undefined
  const createContext = options.createContext as
    | ((context: SyncExpressContextOptions) => object | Promise<object>)
    | undefined
  const router = withoutStacks(options.router)

  const contextOf = async (request: Omit<SyncExpressContextOptions, 'auth'>): Promise<inferRouterContext<R>> => {
    const caller = await authenticate(auth, request.req)
    try {
      return { ...(await createContext?.({ ...request, auth: caller })), auth: caller }
    } catch (error) {
      // A tRPC error is the app's own word to the caller; anything else was not meant for the caller.
      if (error instanceof TRPCError) throw error
      if (onError === undefined) console.error('tidemark: createContext failed', error)
      throw new SyncError('internal', { cause: error })
    }
  }

  const serve = (req: Request, res: Response, refused: SyncError | undefined): void => {
    // Set here for answers that tRPC makes before or beside `responseMeta`, and again there, so that no procedure can
    // undo it.
    res.setHeader('Cache-Control', 'no-store')
    const handlerOptions = {
      router,
      req,
      res,
      path: procedurePath(req.baseUrl, req.path),
      allowMethodOverride: true,
      maxBatchSize,
      maxBodySize: maxBodyBytes,
      responseMeta: ({ info }: { info: unknown }) => ({
        // Without `info` tRPC could not read the request and forgets to say that its answer is JSON.
        headers: new Headers({
          'cache-control': 'no-store',
          ...(info === undefined ? { 'content-type': 'application/json' } : {}),
        }),
      }),
      createContext: ({ req, res, info }: Omit<SyncExpressContextOptions, 'auth'>) => contextOf({ req, res, info }),
      onError: (event: object) => callHook('onError', () => onError?.(event)),
      ...(refused === undefined
        ? {}
        : { middleware: (_req: unknown, _res: unknown, next: (error: unknown) => void) => next(refused) }),
    }
    void nodeHTTPRequestHandler(handlerOptions as unknown as NodeHTTPRequestHandlerOptions<R, Request, Response>)
  }

  const handle: RequestHandler = (req, res) =>
    serve(req, res, announcedTooLarge(req.headers['content-length'], maxBodyBytes))
  const handleBodyError: ErrorRequestHandler = (error: unknown, req, res, next) => {
    const refused = res.headersSent ? undefined : bodyError(error)
    if (refused === undefined) next(error)
    else serve(req, res, refused)
  }
  return [handle, handleBodyError]
}

async function authenticate(
  auth: (request: Request) => SyncAuth | Promise<SyncAuth>,
  request: Request,
): Promise<SyncAuth> {
  try {
    return await auth(request)
  } catch (error) {
    return unverifiedAuth('unavailable', error)
  }
}

function positive(option: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new TypeError(`createSyncExpress: "${option}" must be a whole number above 0`)
}
