import type { Generated, Kysely, Transaction } from 'kysely'
import { createFeed } from '../../src/index.ts'

export interface DB {
  tasks: { id: Generated<number>; tenant_id: string; project_id: number | null; title: string }
  comments: { task_id: number; n: number; tenant_id: string }
  currency: { code: string; rate: number }
  'audit.events': { id: bigint; tenant_id: string }
}

export declare const db: Kysely<DB>
export declare const trx: Transaction<DB>

// oxlint-disable-next-line typescript/explicit-module-boundary-types -- the inferred type is what is tested
export const feed = createFeed({
  db,
  tables: {
    tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
    comments: { tenant: 'tenant_id', key: ['task_id', 'n'] },
    currency: { tenant: null, key: 'code' },
  },
})
