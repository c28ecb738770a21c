import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server'
import type { NodeHTTPCreateContextFnOptions, NodeHTTPHandlerOptions } from '@trpc/server/adapters/node-http'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { SyncAuth } from '../auth/sync-auth.ts'
import type { SyncContext } from '../context.ts'

/** A router whose context has `auth`. */
export type RouterWithAuth = AnyTRPCRouter & {
  readonly _def: { readonly _config: { readonly $types: { readonly ctx: SyncContext } } }
}

/** What `createContext` gets: Express' request and response, tRPC's `info`, and who calls. */
export interface SyncExpressContextOptions extends NodeHTTPCreateContextFnOptions<Request, Response> {
  readonly auth: SyncAuth
}

/** The app's own part of its context. */
type OwnContext<R extends AnyTRPCRouter> = Omit<inferRouterContext<R>, 'auth'>

type CreateContext<R extends AnyTRPCRouter> = (
  options: SyncExpressContextOptions,
) => OwnContext<R> | Promise<OwnContext<R>>

interface CommonOptions<R extends AnyTRPCRouter> {
  /** The app's whole router, or one that `createSyncRouter` made. */
  readonly router: R
  /**
   * Finds out who sent a request: `jwtAuth(…)`, or a function that ends in `verifiedAuth` or `unverifiedAuth`. When it
   * throws, the caller counts as not verified for the moment (503).
   */
  readonly auth: (request: Request) => SyncAuth | Promise<SyncAuth>
  /**
   * Hears of every failed call, as tRPC's own option does; `originalError(error)` tells what really happened. What it
   * throws becomes a process warning.
   */
  readonly onError?: NodeHTTPHandlerOptions<R, Request, Response>['onError']
  /**
   * The largest body, in bytes. A larger one gets 413. Default 1,048,576. A body parser of the app that runs before has
   * its own limit.
   */
  readonly maxBodyBytes?: number
  /**
   * The most calls in one batch. A larger one gets 400. Default 100; set the batch link's `maxItems` to no more than
   * that.
   */
  readonly maxBatchSize?: number
}

/**
 * Options of `createSyncExpress`. `createContext` adds the app's own fields beside `auth` and may be left out when
 * there are none.
 */
export type SyncExpressOptions<R extends AnyTRPCRouter> = CommonOptions<R> &
  (object extends OwnContext<R>
    ? { readonly createContext?: CreateContext<R> }
    : { readonly createContext: CreateContext<R> })

/**
 * What to give to `app.use`: the handler, and one for errors of body parsers that run before it. Express takes the pair
 * as it is.
 */
export type SyncExpressHandlers = [RequestHandler, ErrorRequestHandler]
