import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import { DemoError } from '../demo-error.ts'

const PORTS_TRIED = 50

/** A listening HTTP server. */
export interface Listening {
  readonly port: number
  /** Takes no more requests, lets those under way end within two seconds, then cuts what is left. */
  close(): Promise<void>
}

/**
 * Listens on a port, or with `orNext` on the first free one from there on.
 *
 * @throws {DemoError} when the port is taken or may not be used.
 */
export async function listen(
  app: Express,
  host: string,
  port: { readonly number: number; readonly orNext: boolean },
): Promise<Listening> {
  for (let number = port.number; ; number += 1) {
    const server = createServer(app)
    try {
      await startListening(server, host, number)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && port.orNext && number < Math.min(port.number + PORTS_TRIED, 65_535)) continue
      if (code === 'EADDRINUSE')
        throw new DemoError(`Port ${number} is taken. Name another one: PORT=3001 (or 0 for any).`, { cause: error })
      throw new DemoError(`Cannot listen on ${host}, port ${number}: ${message}.`, { cause: error })
    }
    return { port: (server.address() as AddressInfo).port, close: () => close(server) }
  }
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const patience = setTimeout(() => server.closeAllConnections(), 2_000)
  await closed
  clearTimeout(patience)
}
