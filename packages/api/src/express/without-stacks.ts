import type { AnyTRPCRouter } from '@trpc/server'

/**
 * The same router, as seen by an adapter, with `isDev` off. tRPC puts stack traces, and with them paths of the server's
 * disk, into every error's `data` while `isDev` is on, also into errors that no procedure made: an unknown path, a
 * malformed batch.
 */
export function withoutStacks<R extends AnyTRPCRouter>(router: R): R {
  return { ...router, _def: { ...router._def, _config: { ...router._def._config, isDev: false } } }
}
