import { allTenants, globalOnly, notify, readChanges, tenant } from '@tidemark/core'
import { db, feed } from './database.ts'

export async function read(): Promise<string> {
  const answer = await readChanges(feed, tenant('acme'), { since: 'start', tables: ['tasks', 'currency'], limit: 10 })
  if ('resync' in answer) return answer.resync.from
  if ('held' in answer) return answer.cursor
  for (const change of answer.changes) {
    const table: 'tasks' | 'currency' = change.table
    console.log(table, change.key, change.operation)
  }
  return answer.cursor
}

export async function mistakes(): Promise<void> {
  // @ts-expect-error a reader says whose changes it may see
  await readChanges(feed, { since: 'now' })
  // @ts-expect-error an audience is made by the functions for it
  await readChanges(feed, { kind: 'tenant', tenant: 'acme' }, { since: 'now' })
  // @ts-expect-error where to begin is said aloud
  await readChanges(feed, globalOnly, {})
  // @ts-expect-error the feed declares no such table
  await readChanges(feed, allTenants('search index'), { since: 'now', tables: ['users'] })
}

export async function announce(): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await notify(feed, trx, tenant('acme'), { entries: [{ table: 'comments', keys: [{ task_id: 1, n: 2 }] }] })
    // @ts-expect-error the key of comments has no column "m"
    await notify(feed, trx, tenant('acme'), { entries: [{ table: 'comments', keys: [{ task_id: 1, m: 2 }] }] })
  })
}
