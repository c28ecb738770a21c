import { fileURLToPath } from 'node:url'
import { announcement } from './announce.ts'
import { DemoError, FolderInUseError } from './demo-error.ts'
import { isPageBuilt, pageRoutes } from './http/page-routes.ts'
import { readSettings } from './settings.ts'
import { type Demo, startDemo } from './start-demo.ts'
import { readWhereabouts, removeWhereabouts, writeWhereabouts } from './whereabouts.ts'

// Starts the demo and keeps it running until a signal comes: `pnpm demo`, `pnpm --filter @tidemark/demo dev`.

const appFolder = fileURLToPath(new URL('../..', import.meta.url))
const pageFolder = fileURLToPath(new URL('../../dist', import.meta.url))
const stopping = new AbortController()
const IMPATIENT_AFTER_MS = 1_000
let askedAt = 0

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = performance.now()
    if (!stopping.signal.aborted) {
      askedAt = now
      stopping.abort()
    } else if (now - askedAt > IMPATIENT_AFTER_MS) {
      // Somebody waits. (What comes at once is the same Ctrl-C, from the terminal and from the package manager.) The database stops
      // by itself when this process is gone.
      process.exit(130)
    }
  })
}

try {
  await run()
} catch (error) {
  if (!stopping.signal.aborted || error !== stopping.signal.reason) {
    console.error(error instanceof DemoError ? `\n${error.message}\n` : error)
    process.exitCode = 1
  }
}

async function run(): Promise<void> {
  const settings = readSettings(process.env)
  const dev = process.argv.includes('--dev')
  const page = dev ? await developmentPage() : { handler: pageRoutes(pageFolder), close: async () => {} }
  if (!dev && !isPageBuilt(pageFolder)) console.warn('The page is not built yet: pnpm --filter @tidemark/demo build')
  try {
    const demo = await startDemo({ ...settings, page: page.handler, signal: stopping.signal, onStep: report }).catch(
      async (error: unknown) => {
        throw await sayWhereItRuns(error, settings.folder)
      },
    )
    await serve(demo, settings.folder)
  } finally {
    await page.close()
  }
}

async function serve(demo: Demo, folder: string): Promise<void> {
  try {
    const { kind: database, url: databaseUrl } = demo.database
    await writeWhereabouts(folder, { pid: process.pid, page: demo.url, database, databaseUrl })
    console.log(announcement(demo, process.uptime()))
    if (!stopping.signal.aborted) await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve))
    console.log('\nStopping …')
  } finally {
    await removeWhereabouts(folder, process.pid)
    await demo.stop()
  }
}

function report(step: 'database' | 'tables'): void {
  console.log(
    step === 'database' ? 'Opening the database …' : 'Preparing tables and feed (the first time: all cities) …',
  )
}

/** A database folder that is in use has a demo running on it: its address helps more than its process id. */
async function sayWhereItRuns(error: unknown, folder: string): Promise<unknown> {
  const other = error instanceof FolderInUseError ? await readWhereabouts(folder) : undefined
  if (other === undefined) return error
  return new DemoError(
    `The demo already runs at ${other.page} (process ${other.pid}). Open that page, or stop it first (Ctrl-C in its terminal).`,
    { cause: error },
  )
}

/** The page as Vite serves it while it is worked on: built at each request, replaced in the browser at each change. */
async function developmentPage() {
  const { createServer } = await import('vite')
  const vite = await createServer({ root: appFolder, server: { middlewareMode: true }, appType: 'spa' })
  return { handler: vite.middlewares, close: () => vite.close() }
}
