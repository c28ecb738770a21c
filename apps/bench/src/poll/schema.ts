import type pg from 'pg'

/** The reader's tenant. Four of five rows are its own, the others are dealt out to the rest. */
export const READER = 1
const OTHERS = 20
/** Rows of each table. */
export const ROWS = 10_000
/** Neighbouring rows lie in scopes of their own, so a statement over up to this many of them appends one entry for each. */
const SCOPES = 100

/** Rows that belong to other tenants: every fifth. */
export const OTHERS_EVERY = 5

/** What the feed is told of. */
export interface Schema {
  readonly item: {
    readonly id: number
    readonly tenant_id: number
    readonly project_id: number
    readonly title: string
  }
  readonly city: { readonly id: number; readonly name: string }
}

/** Tables of tenants and of all, roomy enough for their updates to stay in place. */
export async function createTables(admin: pg.Client): Promise<void> {
  await admin.query(
    `create table item (id integer primary key, tenant_id integer not null, project_id integer not null, title text not null) with (fillfactor = 50)`,
  )
  await admin.query(`create table city (id integer primary key, name text not null) with (fillfactor = 50)`)
  await admin.query(
    `insert into item select g, case when g % ${OTHERS_EVERY} = 0 then ${READER} + 1 + (g / ${OTHERS_EVERY}) % ${OTHERS} else ${READER} end, g % ${SCOPES}, 'first title'
     from generate_series(1, ${ROWS}) g`,
  )
  await admin.query(`insert into city select g, 'first name' from generate_series(1, ${ROWS}) g`)
}
