import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Mutant } from './mutants.ts'
import type { Planner } from './planner.ts'

const SOURCE = fileURLToPath(new URL('../../../src', import.meta.url))

/** The files the planner consists of. A further import of theirs fails to resolve, and belongs here then. */
const FILES = ['read/plan-page.ts', 'cursor/cursor.ts', 'cursor/snapshot.ts'] as const

/** Copies the planner's source into `folder`, with the mutant's defect in it, and loads it like any other module. `null`: as it is. */
export async function buildPlanner(folder: string, mutant: Mutant | null): Promise<Planner> {
  for (const file of FILES) {
    const text = await readFile(join(SOURCE, file), 'utf8')
    const target = join(folder, file)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, mutant?.file === file ? mutated(text, mutant) : text)
  }
  const load = (file: (typeof FILES)[number]): Promise<unknown> => import(pathToFileURL(join(folder, file)).href)
  const plan = (await load('read/plan-page.ts')) as Omit<Planner, 'unsettledIn'>
  const snapshot = (await load('cursor/snapshot.ts')) as Pick<Planner, 'unsettledIn'>
  return { ...plan, ...snapshot }
}

function mutated(text: string, { name, find, replace }: Mutant): string {
  const parts = text.split(find)
  if (parts.length !== 2)
    throw new Error(`mutant "${name}": its text stands in the source ${parts.length - 1} times, not once`)
  return parts.join(replace)
}
