import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { FolderInUseError } from '../demo-error.ts'
import { isAlive } from '../process-alive.ts'

/**
 * Keeps a second process off a folder that only one may use: PGlite does not, and two would destroy the data. The lock is
 * a file beside the folder, `<folder>.lock`, that holds the process's id.
 *
 * @throws {FolderInUseError} when a live process holds it.
 */
export async function lockFolder(folder: string): Promise<{ release(): Promise<void> }> {
  const file = `${folder}.lock`
  // Linked into place, so that nobody ever sees a lock without its holder.
  const own = `${file}-${randomBytes(6).toString('hex')}`
  await writeFile(own, String(process.pid), { mode: 0o600 })
  try {
    for (;;) {
      try {
        await link(own, file)
        return { release: () => rm(file, { force: true }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = Number(await readFile(file, 'utf8').catch(() => ''))
      if (isAlive(holder)) {
        throw new FolderInUseError(
          `Process ${holder} already uses ${folder}. Stop it first (if it is no demo, remove ${file}).`,
        )
      }
      await rm(file, { force: true })
    }
  } finally {
    await rm(own, { force: true })
  }
}
