import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium } from 'playwright-core'

const appFolder = fileURLToPath(new URL('../..', import.meta.url))

/** Starts the system's Chromium, or that of `TIDEMARK_CHROMIUM`. */
export async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: process.env['TIDEMARK_CHROMIUM'] || findChromium(),
    // Root may not use its sandbox; and it is to connect to nothing but the page.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

function findChromium(): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
      const path = join(folder, name)
      try {
        accessSync(path, constants.X_OK)
        return path
      } catch {
        // Not here.
      }
    }
  }
  throw new Error('There is no Chromium on PATH: apt-get install chromium, or name one in TIDEMARK_CHROMIUM')
}

/** Builds the page into a folder, in a process of its own: the build's environment is not a test's. */
export async function buildPage(folder: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js')
  const { NODE_ENV: _, ...env } = process.env
  const child = spawn(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd: appFolder,
    env,
    stdio: 'inherit',
  })
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`vite build ended with ${code}`)
}
