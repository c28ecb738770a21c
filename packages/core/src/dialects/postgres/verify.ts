import { TidemarkError, type TidemarkErrorCode } from '../../errors.ts'
import type { Finding } from '../../feed.ts'
import type { FeedSetup } from '../dialect.ts'
import { compareTables, inspectTables } from './compare-tables.ts'
import { appliedSteps, pendingSteps } from './migrate-schema.ts'
import { identifier, run } from './run.ts'

const MIGRATE = 'run feed.migrate()'

/** `feed.verify()`: every difference between declared and installed, as findings instead of errors. */
export async function verify(setup: FeedSetup): Promise<readonly Finding[]> {
  const applied = await appliedSteps(setup.db, setup.schema)
  if (pendingSteps(applied).length > 0) {
    const problem = `the feed's schema "${setup.schema}" is not installed or not up to date`
    return [{ code: 'notInstalled', table: null, problem, remedy: MIGRATE, unseen: false }]
  }
  const findings: Finding[] = []
  if (!(await idsAreHandedOutSingly(setup))) {
    findings.push({
      code: 'idBlocks',
      table: null,
      problem: 'entry ids are handed out in blocks, so entries can be passed over or read in the wrong order',
      remedy: MIGRATE,
      unseen: true,
    })
  }
  const inspection = await inspectTables(setup.db, setup, setup.tables.values())
  const { tracked } = inspection
  for (const table of setup.tables.values()) {
    try {
      const [compared] = await compareTables(setup.db, setup, {}, [table], inspection)
      if (compared?.difference) findings.push({ ...compared.difference, table: table.name, remedy: MIGRATE })
    } catch (error) {
      if (!(error instanceof TidemarkError)) throw error
      // Its triggers were not made for what a tracked table has become.
      const unseen =
        error.code === 'unsupportedTable' &&
        tracked.some(({ name, relation }) => name === table.name && relation !== null)
      findings.push({
        code: error.code as TidemarkErrorCode,
        table: table.name,
        problem: error.message,
        remedy: `change the table or its declaration, then run feed.migrate()${unseen ? ', and announce the table with notify()' : ''}`,
        unseen,
      })
    }
  }
  for (const { name, relation, exists } of tracked) {
    if (relation === null || exists || setup.tables.has(name)) continue
    findings.push({
      code: 'tableDropped',
      table: name,
      problem: 'was dropped, and its capture functions are left',
      remedy: `run untrack(feed, ${JSON.stringify(name)})`,
      unseen: false,
    })
  }
  return findings
}

/** With a cache above 1 on the log's sequence, an id can be older than its transaction, which no reader expects (docs/cursor.md, "The log"). */
export async function idsAreHandedOutSingly(setup: FeedSetup): Promise<boolean> {
  const [row] = await run<{ singly: string }>(
    setup.db,
    `select (seqcache = 1)::text as singly from pg_sequence where seqrelid = pg_get_serial_sequence($1, 'id')::regclass`,
    [`${identifier(setup.schema)}.log`],
  )
  return row?.singly === 'true'
}
