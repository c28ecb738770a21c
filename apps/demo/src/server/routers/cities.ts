import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../database/database.ts'
import { plainName } from '../database/plain-name.ts'
import { companyProcedure, t } from '../trpc.ts'

const SEARCH_LIMIT = 8

/** The global table. */
export function createCitiesRouter(db: Kysely<Database>) {
  return t.router({
    /** The largest cities whose name begins with `text`, whatever its case and accents. */
    search: companyProcedure.input(z.strictObject({ text: z.string().trim().min(1).max(80) })).query(
      async ({ input }) =>
        await db
          .selectFrom('cities')
          .select(['id', 'name', 'country', 'population'])
          .where('plain_name', 'like', `${escapeLike(plainName(input.text))}%`)
          .orderBy('population', 'desc')
          .orderBy('id')
          .limit(SEARCH_LIMIT)
          .execute(),
    ),

    count: companyProcedure.query(async () => {
      const { count } = await db
        .selectFrom('cities')
        .select(sql<number>`count(*)::integer`.as('count'))
        .executeTakeFirstOrThrow()
      return count
    }),
  })
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
