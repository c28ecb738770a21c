import { sql } from 'kysely'
import { copyRows } from './copy-rows.ts'
import type { Random } from './random.ts'
import type { Operation } from './writer-context.ts'

/* Statements on `readings`: keys of types whose text depends on the session, while the writers' sessions differ. */

/** Instants around a change of clocks, some with a fraction. */
const instants: readonly string[] = Array.from({ length: 12 }, (_, i) =>
  new Date(Date.UTC(2024, 2, 31, 0, 30 * i, 0, i % 3 === 0 ? 500 : 0)).toISOString(),
)
const codes = ['', '00ff', '5c', 'c3bc27'] as const
/** As given, and as canonical text; `=` does not tell the first two apart. */
const amounts = [
  ['1.5', '1.5'],
  ['1.50', '1.5'],
  ['100.00', '100'],
  ['-0.0010', '-0.001'],
] as const

interface Reading {
  readonly at: string
  readonly code: string
  readonly amount: string
  readonly key: string
}

function pickReading(random: Random): Reading {
  const [amount, text] = random.pick(amounts)
  const [at, code] = [random.pick(instants), random.pick(codes)]
  return { at, code, amount, key: JSON.stringify([canonical(at), code, text]) }
}

/** UTC without offset, no trailing zeros. */
function canonical(instant: string): string {
  return instant.replace(/\.?0*Z$/, '')
}

const upsert: Operation = async (work, whose) => {
  const { at, code, amount, key } = pickReading(work.random)
  // The amount is written as given: another text of the same key.
  const { rows } = await sql<{
    version: number
  }>`insert into readings (at, code, amount, tenant_id) values (${at}::timestamptz, decode(${code}, 'hex'), ${amount}::numeric, ${whose})
    on conflict (at, code, amount) do update set version = readings.version + 1, amount = excluded.amount returning version`.execute(
    work.trx,
  )
  for (const { version } of rows) work.notes.note('readings', key, version === 1 ? 'arrived' : 'wrote', version)
  work.did('upserts')
}

const update: Operation = async (work, whose) => {
  const { at, code, amount, key } = pickReading(work.random)
  const { rows } = await sql<{
    version: number
  }>`update readings set version = version + 1, note = ${String(work.random.next())}, tenant_id = ${whose}
    where at = ${at}::timestamptz and code = decode(${code}, 'hex') and amount = ${amount}::numeric returning version`.execute(
    work.trx,
  )
  for (const { version } of rows) work.notes.note('readings', key, 'wrote', version)
}

/** All of an instant move to another one. */
const move: Operation = async (work) => {
  const [from, to] = [work.random.pick(instants), work.random.pick(instants)]
  if (from === to) return
  const { rows } = await sql<{
    code: string
    amount: string
    version: number
  }>`update readings set version = version + 1, at = ${to}::timestamptz where at = ${from}::timestamptz
    returning encode(code, 'hex') as code, amount::text, version`.execute(work.trx)
  for (const { code, amount, version } of rows) {
    const text = amounts.find(([given]) => given === amount)?.[1] ?? amount
    work.notes.note('readings', JSON.stringify([canonical(from), code, text]), 'left')
    work.notes.note('readings', JSON.stringify([canonical(to), code, text]), 'arrived', version)
  }
  work.did('keyChanges', rows.length)
}

const remove: Operation = async (work) => {
  const { at, code, amount, key } = pickReading(work.random)
  const { rows } = await sql`delete from readings
    where at = ${at}::timestamptz and code = decode(${code}, 'hex') and amount = ${amount}::numeric returning 1`.execute(
    work.trx,
  )
  if (rows.length === 0) return
  work.notes.note('readings', key, 'left')
  work.did('deletes')
}

/** COPY of instants that nobody else writes. */
const copy: Operation = async (work, whose) => {
  const first = Date.UTC(2030, 0, 1) + 1000 * work.random.int(0, 2_000_000_000)
  const given = Array.from({ length: work.random.int(1, 10) }, (_, i) => new Date(first + 250 * i).toISOString())
  await copyRows(
    work,
    'readings (at, code, amount, tenant_id)',
    given.map((at) => [at, '\\x00ff', '7.70', whose]),
  )
  for (const at of given) work.notes.note('readings', JSON.stringify([canonical(at), '00ff', '7.7']), 'arrived', 1)
}

export const readingOperations: readonly Operation[] = [upsert, upsert, update, update, move, remove, copy]
