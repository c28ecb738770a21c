import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isAlive } from './process-alive.ts'

/** Where a demo runs, for the seed script and for a second start. */
export interface Whereabouts {
  readonly pid: number
  /** Address of the page. */
  readonly page: string
  readonly database: 'embedded' | 'given' | 'pglite'
  /** Connection string of its database, password and all; `null` when no other process can connect. */
  readonly databaseUrl: string | null
}

const whereabouts: z.ZodType<Whereabouts> = z.object({
  pid: z.int(),
  page: z.string(),
  database: z.enum(['embedded', 'given', 'pglite']),
  databaseUrl: z.string().nullable(),
})

/** The file, `demo.json` in the demo's folder. Only its owner may read it. */
function whereaboutsFile(folder: string): string {
  return join(folder, 'demo.json')
}

/** Writes the file, whole or not at all. */
export async function writeWhereabouts(folder: string, value: Whereabouts): Promise<void> {
  await mkdir(folder, { recursive: true })
  const file = whereaboutsFile(folder)
  const written = `${file}.${value.pid}`
  await writeFile(written, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  // The mode above is only for a file that is new.
  await chmod(written, 0o600)
  await rename(written, file)
}

/** Where a demo runs now; `undefined` when none does. */
export async function readWhereabouts(folder: string): Promise<Whereabouts | undefined> {
  try {
    const value = whereabouts.parse(JSON.parse(await readFile(whereaboutsFile(folder), 'utf8')))
    return isAlive(value.pid) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes the file, unless another demo has written its own meanwhile. */
export async function removeWhereabouts(folder: string, pid: number): Promise<void> {
  const present = await readWhereabouts(folder)
  if (present === undefined || present.pid === pid) await rm(whereaboutsFile(folder), { force: true })
}
