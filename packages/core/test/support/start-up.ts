import { expect } from 'vitest'
import type { Finding } from '../../src/index.ts'
import { type AnyFeed, type Bed, quoted } from './bed.ts'

/** What a process finds and does when it starts. */
export interface StartUp {
  /** What `verify()` says first. */
  readonly findings: readonly Finding[]
  readonly installed: readonly string[]
  /** The entries that `migrate()` appended, each as `operation table`. */
  readonly told: readonly string[]
}

/** Runs `verify()` and `migrate()` as a process does that starts, and makes sure that nothing is left to do. */
export async function startUp(bed: Pick<Bed, 'sql' | 'feedSchema'>, feed: AnyFeed): Promise<StartUp> {
  const log = `${quoted(bed.feedSchema)}.log`
  const [before] = await bed.sql(`select coalesce(max(id), 0)::text as id from ${log}`)
  const findings = await feed.verify()
  const { installed } = await feed.migrate()
  const told = await bed.sql(
    `select case when l.op = 'i' and l.keys is null and l.tenant is null then 'invalidate ' else l.op::text || ' ' end || t.name as entry
     from ${log} l join ${quoted(bed.feedSchema)}.tracked t on t.number = l.tbl where l.id > ${String(before?.['id'])} order by l.id`,
  )
  expect(await feed.verify()).toEqual([])
  expect(await feed.migrate()).toEqual({ migrations: [], installed: [] })
  return { findings, installed, told: told.map(({ entry }) => String(entry)) }
}

/** Nothing was found, done or told. */
export const quiet: StartUp = { findings: [], installed: [], told: [] }

/** Rows changed unseen: found, mended, and told by one table-level entry. */
export function announced(table: string, code: string, problem: string): StartUp {
  return { findings: [finding(table, code, problem, true)], installed: [table], told: [`invalidate ${table}`] }
}

/** Nothing passed the feed by: found and mended, and nobody is told. */
export function mended(table: string, code: string, problem: string): StartUp {
  return { findings: [finding(table, code, problem, false)], installed: [table], told: [] }
}

function finding(table: string, code: string, problem: string, unseen: boolean): Finding {
  return {
    code: code as Finding['code'],
    table,
    problem: expect.stringContaining(problem) as string,
    remedy: 'run feed.migrate()',
    unseen,
  }
}
