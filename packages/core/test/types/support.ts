import type { Generated, Kysely, Transaction } from 'kysely'

export interface DB {
  tasks: { id: Generated<number>; tenant_id: string; project_id: number | null; title: string }
  comments: { task_id: number; n: number; tenant_id: string }
  currency: { code: string; rate: number }
  'audit.events': { id: bigint; tenant_id: string }
}

export declare const db: Kysely<DB>
export declare const trx: Transaction<DB>

export const tables = {
  tasks: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
  comments: { tenant: 'tenant_id', key: ['task_id', 'n'] },
  currency: { tenant: null, key: 'code' },
} as const
