import { TRPCError } from '@trpc/server'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../database/database.ts'
import { companyProcedure, t } from '../trpc.ts'
import { rowId } from './inputs.ts'

const LIST_LIMIT = 200

/** Notes on the caller's shipments. */
export function createNotesRouter(db: Kysely<Database>) {
  return t.router({
    /** The notes of one shipment, oldest first. Of a shipment that is not the caller's: none. */
    list: companyProcedure.input(z.strictObject({ shipmentId: rowId })).query(
      async ({ ctx: { company }, input }) =>
        await db
          .selectFrom('notes')
          .select([sql<string>`id::text`.as('id'), 'body', 'created_at as createdAt'])
          .where('company_id', '=', company)
          .where('shipment_id', '=', input.shipmentId)
          .orderBy('id')
          .limit(LIST_LIMIT)
          .execute(),
    ),

    add: companyProcedure
      .input(
        z.strictObject({
          shipmentId: rowId,
          body: z.string().trim().min(1, 'write something').max(500, 'at most 500 characters'),
        }),
      )
      .mutation(async ({ ctx: { company }, input: { shipmentId, body } }) => {
        const { rows } = await sql<{ id: string }>`
          insert into notes (company_id, shipment_id, body)
          select company_id, id, ${body}::text from shipments where company_id = ${company} and id = ${shipmentId}::bigint
          returning id::text
        `.execute(db)
        if (rows[0] === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'there is no such shipment' })
        return rows[0]
      }),
  })
}
