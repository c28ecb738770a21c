import type { Transaction } from 'kysely'
import { type GlobalAudience, notify, type TenantAudience } from '../../src/index.ts'
import { type AnyFeed, type AnyTables, type Bed, capture } from './bed.ts'

export type Trx = Transaction<AnyTables>
export type Whose = TenantAudience | GlobalAudience
type Request = Parameters<typeof notify<AnyTables, unknown>>[3]

/** `notify` as callers without types call it. */
export interface Announcing {
  readonly feed: AnyFeed
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  /** Within a transaction. */
  readonly told: (trx: Trx, whose: unknown, request: unknown) => ReturnType<typeof notify>
  /** In a transaction of its own. */
  readonly notified: (whose: unknown, request: unknown) => ReturnType<typeof notify>
}

export function announcing(bed: Bed, feed: AnyFeed): Announcing {
  const inTransaction: Announcing['inTransaction'] = (work) => bed.db.transaction().execute(work)
  const told: Announcing['told'] = (trx, whose, request) =>
    notify(feed as never, trx as never, whose as Whose, request as Request)
  return { feed, inTransaction, told, notified: (whose, request) => inTransaction((trx) => told(trx, whose, request)) }
}

/** A feed with a table for each kind of key, tenant and scopes. */
export async function openAnnouncing(bed: Bed): Promise<Announcing> {
  await bed.reset()
  const feed = await capture(
    bed,
    `create table tasks (id int8 primary key, tenant_id text not null, v text);
     create table notes (task int, slug text, at timestamptz, tenant_id text not null, primary key (task, slug, at));
     create table rates (code char(3) primary key, v numeric);
     create table docs (id int primary key, tenant_id text not null, project int, team text);
     create table blobs (hash bytea primary key); create table amounts (v numeric primary key); create table moments (at timestamptz primary key)`,
    {
      tasks: { tenant: 'tenant_id', key: 'id' },
      notes: { tenant: 'tenant_id', key: ['task', 'slug', 'at'] },
      rates: { tenant: null, key: 'code' },
      docs: { tenant: 'tenant_id', key: 'id', scopes: ['project', 'team'] },
      blobs: { tenant: null, key: 'hash' },
      amounts: { tenant: null, key: 'v' },
      moments: { tenant: null, key: 'at' },
    },
  )
  return announcing(bed, feed)
}
