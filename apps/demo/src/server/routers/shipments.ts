import { TRPCError } from '@trpc/server'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { distanceKm } from '../../shared/distance.ts'
import { previousStatuses, shipmentStatuses, statusLabels } from '../../shared/shipment-status.ts'
import type { Database } from '../database/database.ts'
import { companyProcedure, t } from '../trpc.ts'
import { cityId, rowId, wholeNumber } from './inputs.ts'

/** Shipments in one answer at most; the newest ones. */
const LIST_LIMIT = 100

const status = z.enum(shipmentStatuses)

/** Lists and moves the caller's shipments. Every statement names the caller's company. */
export function createShipmentsRouter(db: Kysely<Database>) {
  return t.router({
    /** The newest shipments, with their cities' names and how many notes they have, and how many there are of each status. */
    list: companyProcedure
      .input(z.strictObject({ status: status.optional() }))
      .query(async ({ ctx: { company }, input }) => {
        const [rows, counted] = await Promise.all([
          shipmentsOf(db, company)
            .$if(input.status !== undefined, (query) => query.where('shipments.status', '=', input.status ?? 'booked'))
            .orderBy('shipments.id', 'desc')
            .limit(LIST_LIMIT)
            .execute(),
          db
            .selectFrom('shipments')
            .select(['status', sql<number>`count(*)::integer`.as('count')])
            .where('company_id', '=', company)
            .groupBy('status')
            .execute(),
        ])
        const counts = Object.fromEntries(shipmentStatuses.map((name) => [name, 0])) as Record<
          (typeof shipmentStatuses)[number],
          number
        >
        for (const { status: name, count } of counted) counts[name] = count
        return { shipments: rows.map(asShipment), counts, limit: LIST_LIMIT }
      }),

    create: companyProcedure
      .input(
        z.strictObject({
          originId: cityId,
          destinationId: cityId,
          cargo: z.string().trim().min(1, 'say what is sent').max(80, 'at most 80 characters'),
          weightKg: wholeNumber('a whole number of kilograms from 1 to 100,000', 1, 100_000),
        }),
      )
      .mutation(async ({ ctx: { company }, input: { originId, destinationId, cargo, weightKg } }) => {
        if (originId === destinationId) throw badRequest('origin and destination must be different cities')
        const cities = await db.selectFrom('cities').select('id').where('id', 'in', [originId, destinationId]).execute()
        if (cities.length < 2) throw badRequest('origin and destination must be cities of the list')
        return await db
          .insertInto('shipments')
          .values({
            company_id: company,
            origin_id: originId,
            destination_id: destinationId,
            cargo,
            weight_kg: weightKg,
          })
          .returning(sql<string>`id::text`.as('id'))
          .executeTakeFirstOrThrow()
      }),

    /** Moves a shipment one step on, or cancels it. */
    setStatus: companyProcedure
      .input(z.strictObject({ id: rowId, status }))
      .mutation(async ({ ctx: { company }, input }) => {
        // Both in one statement: two people who press at once cannot both move it.
        const moved = await db
          .updateTable('shipments')
          .set({ status: input.status })
          .where('company_id', '=', company)
          .where('id', '=', input.id)
          .where('status', 'in', previousStatuses(input.status))
          .returning(sql<string>`id::text`.as('id'))
          .executeTakeFirst()
        if (moved !== undefined) return moved
        const present = await db
          .selectFrom('shipments')
          .select('status')
          .where('company_id', '=', company)
          .where('id', '=', input.id)
          .executeTakeFirst()
        if (present === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'there is no such shipment' })
        const labels = `“${statusLabels[present.status]}” cannot become “${statusLabels[input.status]}”`
        throw new TRPCError({ code: 'CONFLICT', message: `${labels}: it may have moved on meanwhile` })
      }),
  })
}

function shipmentsOf(db: Kysely<Database>, company: string) {
  return db
    .selectFrom('shipments')
    .innerJoin('cities as origin', 'origin.id', 'shipments.origin_id')
    .innerJoin('cities as destination', 'destination.id', 'shipments.destination_id')
    .where('shipments.company_id', '=', company)
    .select((eb) => [
      sql<string>`shipments.id::text`.as('id'),
      'shipments.status',
      'shipments.cargo',
      'shipments.weight_kg',
      'shipments.created_at',
      'origin.name as origin_name',
      'origin.country as origin_country',
      'origin.latitude as origin_latitude',
      'origin.longitude as origin_longitude',
      'destination.name as destination_name',
      'destination.country as destination_country',
      'destination.latitude as destination_latitude',
      'destination.longitude as destination_longitude',
      eb
        .selectFrom('notes')
        .whereRef('notes.company_id', '=', 'shipments.company_id')
        .whereRef('notes.shipment_id', '=', 'shipments.id')
        .select(sql<number>`count(*)::integer`.as('count'))
        .as('note_count'),
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof shipmentsOf>['execute']>>[number]

function asShipment(row: Row) {
  const origin = { latitude: row.origin_latitude, longitude: row.origin_longitude }
  const destination = { latitude: row.destination_latitude, longitude: row.destination_longitude }
  return {
    id: row.id,
    status: row.status,
    cargo: row.cargo,
    weightKg: row.weight_kg,
    createdAt: row.created_at,
    origin: { name: row.origin_name, country: row.origin_country },
    destination: { name: row.destination_name, country: row.destination_country },
    distanceKm: distanceKm(origin, destination),
    noteCount: row.note_count ?? 0,
  }
}

function badRequest(message: string): TRPCError {
  return new TRPCError({ code: 'BAD_REQUEST', message })
}
