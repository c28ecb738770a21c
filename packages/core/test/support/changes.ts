import { allTenants, readChanges } from '../../src/index.ts'
import type { AnyFeed, Bed } from './bed.ts'
import { quoted } from './bed.ts'

const reader = allTenants('tests')

/** Head cursor of the whole feed. */
export async function now(feed: AnyFeed): Promise<string> {
  const page = await readChanges(feed, reader, { since: 'now' })
  if (!('changes' in page)) throw new Error(`no page: ${JSON.stringify(page)}`)
  return page.cursor
}

/** Every change after `since`, each as `operation table key @tenant`; the tenant is left out for global rows. */
export async function changesSince(feed: AnyFeed, since: string): Promise<string[]> {
  const found: string[] = []
  for (let cursor = since; ;) {
    const page = await readChanges(feed, reader, { since: cursor, limit: 5000 })
    if (!('changes' in page)) throw new Error(`no page: ${JSON.stringify(page)}`)
    for (const { table, operation, key, tenant } of page.changes) {
      found.push([operation, table, key ?? '*', ...(tenant === null ? [] : [`@${tenant}`])].join(' '))
    }
    cursor = page.cursor
    if (!page.hasMore) return found
  }
}

/** Runs `work` and gives the changes that it made, in order. */
export async function changesBy(feed: AnyFeed, work: () => Promise<unknown>): Promise<string[]> {
  const since = await now(feed)
  await work()
  return await changesSince(feed, since)
}

/** The changes that these statements make, each run by itself, in order. */
export function changesOf(bed: Bed, feed: AnyFeed, ...statements: readonly string[]): Promise<string[]> {
  return changesBy(feed, async () => {
    for (const statement of statements) await bed.sql(statement)
  })
}

/** What a reader who folds is left with: the last word on each row, or with `forEachTenant` on each row of each tenant. */
export function lastWords(told: readonly string[], forEachTenant: 'forEachTenant' | 'forAll' = 'forAll'): string[] {
  const words = new Map<string, 'deleted' | 'present'>()
  for (const change of told) {
    const [operation, ...row] = change.split(' ')
    const named = row.filter((part) => forEachTenant === 'forEachTenant' || !part.startsWith('@')).join(' ')
    words.set(named, operation === 'delete' ? 'deleted' : 'present')
  }
  return [...words].map(([row, word]) => `${row} ${word}`).toSorted()
}

/** One row of the log, as far as readers of several scopes depend on it. */
export interface LoggedEntry {
  readonly op: string
  readonly tenant: string | null
  readonly scopes: (string | null)[] | null
  readonly keys: string[] | null
  readonly n: number
}

/** Runs `work` and gives the entries that it appends, in order: what the log holds beyond what a page shows. */
export async function entriesBy(bed: Bed, work: () => Promise<unknown>): Promise<LoggedEntry[]> {
  const log = `${quoted(bed.feedSchema)}.log`
  const [before] = await bed.sql(`select coalesce(max(id), 0)::text as id from ${log}`)
  await work()
  const rows = await bed.sql(
    `select json_build_object('op', op, 'tenant', tenant, 'scopes', scopes, 'keys', keys, 'n', n)::text as entry from ${log} where id > ${String(before?.['id'])} order by id`,
  )
  return rows.map(({ entry }) => JSON.parse(entry as string) as LoggedEntry)
}

/** The entries that these statements append, each run by itself, in order. */
export function entriesOf(bed: Bed, ...statements: readonly string[]): Promise<LoggedEntry[]> {
  return entriesBy(bed, async () => {
    for (const statement of statements) await bed.sql(statement)
  })
}
