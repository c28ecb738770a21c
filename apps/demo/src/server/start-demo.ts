import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import { createTokens } from './auth/tokens.ts'
import { type DatabaseChoice, type OpenDatabase, openDatabase } from './database/open-database.ts'
import { type Preparation, prepareDatabase } from './database/prepare-database.ts'
import type { CityCount } from './database/write-cities.ts'
import { createDemoFeed } from './feed.ts'
import { createHttpApp } from './http/create-http-app.ts'
import { listen } from './http/listen.ts'
import { createAppRouter } from './routers/app-router.ts'

/** Options of {@link startDemo}. */
export interface DemoOptions {
  readonly database: DatabaseChoice
  readonly cities: CityCount
  readonly host: string
  readonly port: { readonly number: number; readonly orNext: boolean }
  /** What serves the page. */
  readonly page: RequestHandler
  /** What signs the tokens, at least 32 bytes. `null`: a random one. */
  readonly secret: Uint8Array | null
  /** The clock of tokens. Default: the system's. */
  readonly now?: () => Date
  /** Ends the start between two of its steps; what was opened is closed again. */
  readonly signal?: AbortSignal
  /** Told of errors that callers are not told of. Default: `console.error`. */
  readonly log?: (error: unknown) => void
  /** Told before each step that may take a while. */
  readonly onStep?: (step: 'database' | 'tables') => void
}

/** A running demo. */
export interface Demo extends AsyncDisposable {
  /** Address of the page, without a slash at its end. */
  readonly url: string
  readonly database: Pick<OpenDatabase, 'kind' | 'url' | 'dataFolder'>
  readonly preparation: Preparation
  /** Closes server and database. May be called again. */
  stop(): Promise<void>
}

/** Opens the database, prepares it and serves the app. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const {
    signal = new AbortController().signal,
    now = () => new Date(),
    log = console.error,
    onStep = () => {},
  } = options
  const closers: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close()
  }
  try {
    signal.throwIfAborted()
    onStep('database')
    const database = await openDatabase(options.database)
    closers.push(() => database.close())
    signal.throwIfAborted()

    onStep('tables')
    const feed = createDemoFeed(database.db)
    const { cities } = options
    const { dataFolder } = database
    const preparation = await prepareDatabase(database.db, feed, { cities, dataFolder, signal })
    signal.throwIfAborted()

    const tokens = createTokens(options.secret ?? randomBytes(32), now)
    const router = createAppRouter(database.db, feed, { othersCanWrite: database.url !== null })
    const app = createHttpApp(router, tokens, options.page, log)
    const server = await listen(app, options.host, options.port)
    closers.push(() => server.close())

    let stopping: Promise<void> | undefined
    const stopOnce = (): Promise<void> => (stopping ??= stop())
    const host = options.host.includes(':') ? `[${options.host}]` : options.host
    return {
      url: `http://${host}:${server.port}`,
      database: { kind: database.kind, url: database.url, dataFolder: database.dataFolder },
      preparation,
      stop: stopOnce,
      [Symbol.asyncDispose]: stopOnce,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
