import type { ClientBase } from 'pg'
import { companies, type CompanyId } from '../../shared/companies.ts'

/**
 * One round of changes for every company: new shipments, shipments that move on, notes, one shipment removed with its notes,
 * one transaction that is rolled back (nobody hears of it), and a city that grows, which concerns everyone.
 *
 * @returns what was written, in words.
 */
export async function writeRound(client: ClientBase): Promise<string> {
  const parts: string[] = []
  for (const { id, name } of companies) {
    const created = await count(client, CREATE, [id, countries[id]])
    const advanced = await count(client, ADVANCE, [id])
    const noted = await count(client, NOTE, [id])
    const removed = await count(client, REMOVE_OLDEST_DELIVERED, [id])
    parts.push(`${name}: ${created} created, ${advanced} moved on, ${noted} noted, ${removed} removed`)
  }
  await client.query('begin')
  await count(client, CREATE, [companies[0].id, countries[companies[0].id]])
  await client.query('rollback')
  const { rows } = await client.query<{ name: string }>(GROW_A_CITY)
  parts.push(`everyone: ${rows[0]?.name ?? 'no city'} grew`)
  return parts.join(' · ')
}

/** Where the companies drive. */
const countries: Readonly<Record<CompanyId, readonly string[]>> = {
  'harbour-dale': ['NL', 'BE', 'DE', 'FR', 'GB', 'ES', 'PT', 'IT', 'CH', 'AT', 'PL', 'CZ', 'DK', 'SE'],
  altiplano: ['BR', 'AR', 'CL', 'PE', 'BO', 'PY', 'UY', 'EC', 'CO'],
}

async function count(client: ClientBase, statement: string, values: readonly unknown[]): Promise<number> {
  const { rowCount } = await client.query(statement, [...values])
  return rowCount ?? 0
}

const CREATE = `
  with large as (
    select id, row_number() over (order by random()) as n
    from (select id from cities where country = any ($2) order by population desc limit 60) c
  )
  insert into shipments (company_id, origin_id, destination_id, cargo, weight_kg)
  select $1, a.id, b.id, (array['Coffee', 'Cotton', 'Glassware', 'Olive oil', 'Bicycles', 'Spare parts', 'Timber', 'Tea'])[1 + a.n % 8], 500 + (random() * 20000)::integer
  from large a join large b on b.n = a.n + 3
  where a.n <= 3`

const ADVANCE = `
  update shipments set status = case status when 'booked' then 'collected' when 'collected' then 'in_transit' else 'delivered' end
  where company_id = $1 and id in (
    select id from shipments where company_id = $1 and status in ('booked', 'collected', 'in_transit') order by random() limit 4
  )`

const NOTE = `
  insert into notes (company_id, shipment_id, body)
  select company_id, id, 'Passed the checkpoint at ' || to_char(now() at time zone 'UTC', 'HH24:MI:SS') || ' UTC.'
  from shipments where company_id = $1 and status = 'in_transit' order by random() limit 2`

const REMOVE_OLDEST_DELIVERED = `
  delete from shipments where id = (
    select id from shipments where company_id = $1 and status = 'delivered' order by id limit 1
  )`

const GROW_A_CITY = `
  update cities set population = population + 1 where id = (select id from cities order by population desc limit 1) returning name`
