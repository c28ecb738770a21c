import type pg from 'pg'
import { OTHERS_EVERY, ROWS } from './schema.ts'

/** Rows of one statement: 1, 2, … up to this, then from the start. Each is an entry, and no update leaves a row as it is. */
const MOST_ROWS = 16

/**
 * Writes through capture, in many short transactions, until the log holds `entries` more that the reader's tenant can read: its own and the global
 * ones. Each fifth entry is another tenant's and comes on top.
 */
export async function writeEntries(admin: pg.Client, entries: number): Promise<void> {
  await admin.query('set synchronous_commit = off')
  await admin.query(`do $fill$
    declare
      readable bigint := 0;
      found bigint;
      i bigint := 0;
      first integer;
    begin
      while readable < ${entries} loop
        i := i + 1;
        if i % 10 = 0 then
          update city set name = 'name ' || pg_current_xact_id() where id = 1 + i % ${ROWS};
          readable := readable + 1;
        else
          first := 1 + (i * 7919) % ${ROWS - MOST_ROWS};
          with written as (
            update item set title = 'title ' || pg_current_xact_id() where id between first and first + i % ${MOST_ROWS} returning id
          )
          select count(*) filter (where id % ${OTHERS_EVERY} <> 0) into found from written;
          readable := readable + found;
        end if;
        commit;
      end loop;
    end
  $fill$`)
}

/** Writes `entries` of other tenants, one to a transaction. */
export async function writeOthersEntries(admin: pg.Client, entries: number): Promise<void> {
  await admin.query(`do $fill$
    begin
      for i in 1 .. ${entries} loop
        update item set title = 'other ' || pg_current_xact_id() where id = ${OTHERS_EVERY} * (1 + i % ${ROWS / OTHERS_EVERY});
        commit;
      end loop;
    end
  $fill$`)
}

/** Brings the log's statistics and visibility up to date, as autovacuum would. */
export async function vacuumLog(admin: pg.Client): Promise<void> {
  await admin.query('vacuum analyze tidemark.log')
}
