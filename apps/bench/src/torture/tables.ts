import { createFeed, type Feed } from '@tidemark/core'
import type { Generated, Kysely } from 'kysely'

/*
 * The tables under torture and what the feed is told of them. Names, key types, tenants and shapes are chosen to be awkward: quoted names in another schema,
 * a schema of the feed's that needs quoting, composite keys, keys that are swapped by single statements, rows without a tenant, partitions, cascades,
 * triggers of the application's own, row security. Their DDL is in `ddl.ts`.
 */

/** The feed's own schema in a run. */
export const FEED_SCHEMA = 'Feed of "torture"'

interface Versioned {
  /** Counts the writes of a row while it lives under one key: the check of the witness. */
  readonly version: Generated<number>
  /** Another text with each update: rows that exchange their keys are never equal to their predecessors. */
  readonly note: string | null
}

interface Row extends Versioned {
  readonly id: string
  readonly tenant_id: string
}

/** The database of a run. */
export interface TortureDatabase {
  readonly items: Row & { readonly project_id: number | null }
  readonly 'app.Order Lines': Versioned & {
    readonly day: Date
    readonly 'Label "x"': string
    readonly tenant_id: string
  }
  readonly slots: Versioned & { readonly pos: number; readonly tenant_id: string }
  readonly rates: Versioned & { readonly code: string; readonly value: string }
  readonly drafts: Row
  readonly readings: Versioned & {
    readonly at: Date
    readonly code: Buffer
    readonly amount: string
    readonly tenant_id: string
  }
  readonly visits: Row & { readonly day: Date }
  readonly wallets: Row & { readonly kind: string | null }
  readonly projects: Row
  readonly tasks: Row & { readonly project_id: string }
  readonly comments: Row & {
    readonly task_id: string | null
    readonly about_id: string | null
    readonly copied_id: string | null
  }
  readonly shares: Row & { readonly task_id: string | null; readonly project_id: string | null }
  readonly nodes: Row & { readonly parent_id: string | null }
  readonly stock: Row & { readonly amount: number }
  readonly ledger: Row & { readonly amount: number }
  readonly letters: Row
  readonly digests: Row
  readonly vault: Row
  readonly safes: Row
}

const declarations = {
  /** The table with tenants, scopes and moving keys. */
  items: { tenant: 'tenant_id', key: 'id', scopes: ['project_id'] },
  'app.Order Lines': { tenant: 'tenant_id', key: ['day', 'Label "x"'] },
  /** Deferrable: single statements may swap and shift keys. */
  slots: { tenant: 'tenant_id', key: 'pos' },
  rates: { tenant: null, key: 'code' },
  /** Comes row by row and goes by TRUNCATE. */
  drafts: { tenant: 'tenant_id', key: 'id' },
  /** Key types whose `::text` differs from session to session. */
  readings: { tenant: 'tenant_id', key: ['at', 'code', 'amount'] },
  /** Partitioned by range, one partition by hash once more, with a default; partitions come during the run. */
  visits: { tenant: 'tenant_id', key: ['day', 'id'] },
  /** Partitioned by tenant: a row that moves to another tenant moves to another partition. */
  wallets: { tenant: 'tenant_id', key: ['tenant_id', 'id'], scopes: ['kind'] },
  /** Cascades: projects → tasks → comments and shares, which is partitioned, and a tree of one table. */
  projects: { tenant: 'tenant_id', key: 'id' },
  tasks: { tenant: 'tenant_id', key: 'id' },
  comments: { tenant: 'tenant_id', key: 'id' },
  shares: { tenant: 'tenant_id', key: 'id' },
  nodes: { tenant: 'tenant_id', key: 'id' },
  /** The application's AFTER ROW trigger writes the same row, an earlier row, and `ledger`. */
  stock: { tenant: 'tenant_id', key: 'id' },
  ledger: { tenant: 'tenant_id', key: 'id' },
  /** BEFORE triggers that change and cancel rows; an AFTER STATEMENT trigger that writes the same table and `digests`. */
  letters: { tenant: 'tenant_id', key: 'id' },
  digests: { tenant: 'tenant_id', key: 'id' },
  /** Forced row security, owned by a plain role; `safes` with row triggers, asked for. */
  vault: { tenant: 'tenant_id', key: 'id' },
  safes: { tenant: 'tenant_id', key: 'id', capture: 'row' },
} as const

export type TortureTable = keyof typeof declarations
export const tortureTables: readonly TortureTable[] = Object.keys(declarations) as TortureTable[]
export type TortureFeed = Feed<TortureDatabase, typeof declarations>

/** The feed over all of them. */
export function createTortureFeed(db: Kysely<TortureDatabase>): TortureFeed {
  return createFeed({ db, schema: FEED_SCHEMA, captureRole: 'tidemark_capture', tables: declarations })
}

/** Tenants, one of them with a name that breaks careless SQL. The quiet one gets no bulk writes, so that tiny pages keep up. */
export const QUIET = 'quiet'
export const ODD = `O'Brien "\\" ünï`
export const BULKY = ['north', 'south'] as const
export const tenants: readonly string[] = [...BULKY, 'east', ODD, QUIET]
