import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { DemoError } from './demo-error.ts'
import { writeRound } from './seed/write-round.ts'
import { readDatabaseUrl, readSettings } from './settings.ts'
import { readWhereabouts } from './whereabouts.ts'

// Writes a burst of changes into the demo's database from this process, with plain SQL: `pnpm demo:seed`. Nothing of the feed is used
// here; that the page follows all the same is the point.

const HELP = `Usage: demo:seed [--rounds N] [--pause MS]

Writes into the database of the demo that runs now, or of DATABASE_URL.

  --rounds   how many rounds of changes, 1 to 1000 (default 5)
  --pause    milliseconds between two rounds, 0 to 60000 (default 800)`

try {
  await seed()
} catch (error) {
  const known = error instanceof DemoError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')
  console.error(known ? (error as Error).message : error)
  process.exitCode = 1
}

async function seed(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string' }, pause: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return console.log(HELP)
  const rounds = wholeNumber('--rounds', values.rounds ?? '5', 1, 1_000)
  const pauseMs = wholeNumber('--pause', values.pause ?? '800', 0, 60_000)

  const client = new pg.Client({ connectionString: await findDatabase(), application_name: 'tidemark demo seed' })
  await client.connect().catch((cause: Error) => {
    throw new DemoError(`The database does not answer: ${cause.message}.`, { cause })
  })
  try {
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) await delay(pauseMs)
      console.log(`Round ${round} of ${rounds}: ${await writeRound(client)}`)
    }
  } finally {
    await client.end()
  }
}

async function findDatabase(): Promise<string> {
  const given = readDatabaseUrl(process.env)
  if (given !== undefined) return given
  const demo = await readWhereabouts(readSettings(process.env).folder)
  if (demo === undefined)
    throw new DemoError('No demo runs. Start it first (pnpm demo), or name its database in DATABASE_URL.')
  if (demo.databaseUrl === null) {
    throw new DemoError(
      'The demo runs on PGlite, inside its own process: no other process can write there. Start it without DEMO_DB=pglite.',
    )
  }
  return demo.databaseUrl
}

function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1
  if (number < least || number > most)
    throw new DemoError(`${name} must be a whole number from ${least} to ${most}, not "${value}".`)
  return number
}
