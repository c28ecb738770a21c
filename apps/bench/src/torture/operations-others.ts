import { appendChange, globalOnly, notify, tenant } from '@tidemark/core'
import { sql } from 'kysely'
import { QUIET, tenants } from './tables.ts'
import { impatiently, type Work } from './writer-context.ts'

/* Statements on the other tables, and explicit entries. */

const LINES = sql`app."Order Lines"`
const LABEL = sql`"Label ""x"""`
const labels = ['plain', 'a"b', `c'd`, 'e,f', 'ü{}', 'back\\slash'] as const
const codes = ['EUR', 'USD', 'chf', 'x"y', '  ', 'ß'] as const
const SLOTS = 40
const DAYS = 12

interface Line {
  readonly day: string
  readonly label: string
  readonly version: number
}

const lineKey = (day: string, label: string): string => JSON.stringify([day, label])
const returningLine = sql`to_char(day, 'YYYY-MM-DD') as day, ${LABEL} as label, version`

/** Composite keys with a date: inserted, updated, moved, re-keyed or deleted. */
export async function writeLines(work: Work, whose: string): Promise<void> {
  const { random, trx, notes } = work
  const day = `2024-02-${String(18 + random.int(0, DAYS - 1)).padStart(2, '0')}`
  const label = random.pick(labels)
  const where = sql`day = ${day}::date and ${LABEL} = ${label}`
  switch (random.pick(['insert', 'update', 'update', 'change', 'delete'] as const)) {
    case 'insert': {
      const { rows } =
        await sql<Line>`insert into ${LINES} (day, ${LABEL}, tenant_id) values (${day}::date, ${label}, ${whose}) on conflict do nothing
        returning ${returningLine}`.execute(trx)
      for (const row of rows) notes.note('app.Order Lines', lineKey(row.day, row.label), 'arrived', row.version)
      break
    }
    case 'update': {
      const { rows } =
        await sql<Line>`update ${LINES} set version = version + 1, note = ${String(random.next())}, tenant_id = ${random.chance(0.2) ? random.pick(tenants) : whose} where ${where}
        returning ${returningLine}`.execute(trx)
      for (const row of rows) notes.note('app.Order Lines', lineKey(row.day, row.label), 'wrote', row.version)
      break
    }
    case 'change': {
      // All labels of a day move to the next free one of that day: one part of the key changes.
      const { rows } =
        await sql<Line>`update ${LINES} set version = version + 1, note = ${String(random.next())}, ${LABEL} = ${LABEL} || '+' where day = ${day}::date and length(${LABEL}) < 12
        returning ${returningLine}`.execute(trx)
      for (const row of rows) notes.note('app.Order Lines', lineKey(row.day, row.label.slice(0, -1)), 'left')
      for (const row of rows) notes.note('app.Order Lines', lineKey(row.day, row.label), 'arrived', row.version)
      work.did('keyChanges', rows.length)
      break
    }
    case 'delete': {
      const { rows } =
        await sql<Line>`delete from ${LINES} where day = ${day}::date and (${LABEL} = ${label} or length(${LABEL}) > 9)
        returning ${returningLine}`.execute(trx)
      for (const row of rows) notes.note('app.Order Lines', lineKey(row.day, row.label), 'left')
    }
  }
}

/** Two rows, or all of a range, exchange their keys in one statement. */
export async function swapSlots(work: Work): Promise<void> {
  const { random, trx, notes } = work
  const a = random.int(1, SLOTS)
  const b = random.chance(0.5) ? a + 1 : random.int(1, SLOTS)
  const [first, last] = [Math.min(a, b), Math.max(a, b)]
  const { rows } = await sql<{
    pos: number
    version: number
  }>`update slots set version = version + 1, note = ${String(random.next())}, pos = ${first + last}::int - pos
    where pos between ${first} and ${last} returning pos, version`.execute(trx)
  const there = new Set(rows.map(({ pos }) => pos))
  for (const { pos } of rows)
    if (!there.has(first + last - pos)) notes.note('slots', String(first + last - pos), 'left')
  for (const { pos, version } of rows) notes.note('slots', String(pos), 'arrived', version)
  work.did('swaps')
}

/** Every fifth slot, for one tenant. */
export async function insertSlots({ trx, notes }: Work, first: number, whose: string): Promise<void> {
  const { rows } = await sql<{ pos: number }>`insert into slots (pos, tenant_id)
    select pos, ${whose} from generate_series(${1 + first}::int, ${SLOTS}, 5) pos returning pos`.execute(trx)
  for (const { pos } of rows) notes.note('slots', String(pos), 'arrived', 1)
}

/** Fills the gaps that deletes left, or makes one. */
export async function fillSlots(work: Work, whose: string): Promise<void> {
  const { random, trx, notes } = work
  const pos = random.int(1, SLOTS)
  if (random.chance(0.5)) {
    const { rows } = await sql<{ pos: number }>`delete from slots where pos = ${pos} returning pos`.execute(trx)
    if (rows.length > 0) notes.note('slots', String(pos), 'left')
    return
  }
  await sql`insert into slots (pos, tenant_id) values (${pos}, ${whose})`.execute(trx)
  notes.note('slots', String(pos), 'arrived', 1)
}

/** Global rows: written, re-inserted, or touched by a statement that changes nothing and must not be announced. */
export async function writeRates(work: Work): Promise<void> {
  const { random, trx, notes } = work
  const code = random.pick(codes)
  if (random.chance(0.2)) {
    await sql`update rates set value = value where code = ${code}`.execute(trx)
    return
  }
  if (random.chance(0.2)) {
    const { rows } = await sql<{ code: string }>`delete from rates where code = ${code} returning code`.execute(trx)
    if (rows.length > 0) notes.note('rates', code, 'left')
    return
  }
  const { rows } = await sql<{
    version: number
  }>`insert into rates (code, value) values (${code}, ${random.int(1, 1000)}) on conflict (code) do update
    set version = rates.version + 1, value = excluded.value returning version`.execute(trx)
  for (const { version } of rows) notes.note('rates', code, version === 1 ? 'arrived' : 'wrote', version)
}

/** Rows that come one by one and go all at once. */
export async function writeDrafts(work: Work, whose: string): Promise<void> {
  const { random, trx, notes } = work
  if (random.chance(0.12)) {
    await impatiently(work, () => sql`truncate drafts`.execute(trx))
    notes.note('drafts', null, 'left')
    work.did('truncates')
    return
  }
  const { rows } = await sql<{
    id: string
  }>`insert into drafts (id, tenant_id) values (${random.int(1, 1_000_000)}, ${whose}) on conflict do nothing
    returning id`.execute(trx)
  for (const { id } of rows) notes.note('drafts', id, 'arrived', 1)
}

/** Entries that no trigger wrote: of rows we have not locked, of whole tables, of several tables at once. */
export async function announce(work: Work, whose: string): Promise<void> {
  const { random, trx, feed } = work
  work.did('explicit')
  const audience = tenant(whose)
  switch (random.pick(['keys', 'many', 'table', 'notify', 'global'] as const)) {
    case 'keys':
      await appendChange(feed, trx, audience, {
        table: 'items',
        operation: 'update',
        keys: [String(random.int(1, 300))],
        scopes: { project_id: 2 },
      })
      return
    case 'many': {
      const keys = Array.from({ length: whose === QUIET ? 7 : 150 }, () => random.int(1, 300))
      await appendChange(feed, trx, audience, { table: 'slots', operation: 'delete', keys })
      return
    }
    case 'table':
      await appendChange(feed, trx, audience, { table: 'app.Order Lines', operation: 'invalidate' })
      return
    case 'notify':
      await notify(feed, trx, audience, {
        entries: [{ table: 'slots' }, { table: 'app.Order Lines', keys: ['["2024-02-29","a\\"b"]'] }],
        actor: 'torture',
      })
      return
    case 'global':
      await notify(feed, trx, globalOnly, {
        entries: [{ table: 'rates', keys: ['EUR', 'never there'] }],
        reason: 'a rate was set elsewhere',
      })
  }
}
