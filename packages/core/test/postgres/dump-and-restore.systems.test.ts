import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AnyFeed, capture, feedOn, type Level } from '../support/bed.ts'
import { changesBy, changesOf } from '../support/changes.ts'
import { openPostgres, type PostgresBed } from '../support/postgres-bed.ts'

// What pg_dump keeps of capture, and what a restore does unseen (docs/capture.md, "Facts" and rule 22). Needs the programs of the server's version.

const run = promisify(execFile)
const declared = { tasks: { tenant: 'org', key: 'id', scopes: ['v'] } } as const

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-dump-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each(['statement', 'row'] as const)('a table captured by %s', (level: Level) => {
  let bed: PostgresBed
  let other: PostgresBed
  let feed: AnyFeed
  beforeEach(async () => {
    bed = await openPostgres({ level })
    other = await openPostgres({ level })
    await bed.reset()
    feed = await capture(
      bed,
      `create table tasks (id int primary key, org text not null, v int); insert into tasks values (1, 'acme', 0), (2, 'bolt', 0)`,
      declared,
    )
  })
  afterEach(async () => {
    await bed.close()
    await other.close()
  })
  const program = (name: string): string => {
    const path = join(process.env['TIDEMARK_PG_BIN'] || `/usr/lib/postgresql/${bed.major}/bin`, name)
    if (!existsSync(path)) throw new Error(`there is no ${path}: install postgresql-client-${bed.major}`)
    return path
  }
  const dumped = async (...options: string[]): Promise<string> => {
    const file = join(folder, 'dump.sql')
    await run(program('pg_dump'), ['-d', bed.url, '-f', file, ...options])
    return file
  }
  /** Messages of the errors that a restore meets; it goes on behind each. */
  const restore = async (file: string, into: PostgresBed): Promise<string> => {
    const { stderr } = await run(program('psql'), ['-X', '-q', '-d', into.url, '-f', file])
    return stderr
  }
  const triggers = async (at: PostgresBed): Promise<unknown> =>
    await at.sql(
      `select tgname::text as name, tgenabled::text as enabled, tgtype, tgoldtable::text as old, tgnewtable::text as new, tgqual is not null as conditional
       from pg_trigger where tgrelid = 'app.tasks'::regclass and not tgisinternal order by 1`,
    )

  it('keeps all of it in a whole dump; in the new database start-up takes the table for a new one and announces it', async () => {
    expect(await restore(await dumped(), other)).toBe('')
    expect(await triggers(other)).toEqual(await triggers(bed))
    const there = feedOn(other, declared)
    expect(
      await changesOf(
        other,
        there,
        `insert into tasks values (3, 'acme', 0)`,
        `update tasks set v = 1 where id = 3`,
        `update tasks set id = 4 where id = 3`,
        `truncate tasks`,
      ),
    ).toEqual([
      'create tasks 3 @acme',
      'delete tasks 3 @acme',
      'create tasks 3 @acme',
      'delete tasks 3 @acme',
      'create tasks 4 @acme',
      'invalidate tasks *',
    ])
    expect(await there.verify()).toMatchObject([{ code: 'tableReplaced', table: 'tasks', unseen: true }])
    expect(await changesBy(there, () => there.migrate())).toEqual(['invalidate tasks *'])
    expect(await there.verify()).toEqual([])
    expect(await changesOf(other, there, `insert into tasks values (3, 'acme', 0)`)).toEqual(['create tasks 3 @acme'])
  })

  it("loses it in a dump of the app's schema alone: the restore complains, and start-up installs it", async () => {
    const complaints = await restore(await dumped('-n', 'app'), other)
    expect(complaints).toContain('schema "tidemark" does not exist')
    expect(await triggers(other)).toEqual([])
    const there = feedOn(other, declared)
    expect(await there.verify()).toMatchObject([{ code: 'notInstalled' }])
    expect(await there.migrate()).toMatchObject({ installed: ['tasks'] })
    expect(await changesOf(other, there, `delete from tasks where id = 1`)).toEqual(['delete tasks 1 @acme'])
  })

  it('tells the rows of a dump that holds only data', async () => {
    const file = await dumped('--data-only', '-t', 'app.tasks')
    await bed.sql('delete from tasks')
    expect((await changesBy(feed, () => restore(file, bed))).toSorted()).toEqual([
      'create tasks 1 @acme',
      'create tasks 2 @bolt',
    ])
    expect(await feed.verify()).toEqual([])
  })

  it('does not see the rows that a restore loads with triggers disabled; they are found and announced', async () => {
    const file = await dumped('--data-only', '--disable-triggers', '-t', 'app.tasks')
    await bed.sql('delete from tasks')
    expect(await changesBy(feed, () => restore(file, bed))).toEqual([])
    expect(await bed.sql('select count(*)::int as n from tasks')).toEqual([{ n: 2 }])
    expect(await feed.verify()).toMatchObject([
      { code: 'trigger', problem: 'insert trigger is not enabled always', unseen: true },
    ])
    expect(await changesBy(feed, () => feed.migrate())).toEqual(['invalidate tasks *'])
    expect(await feed.verify()).toEqual([])
    expect(await changesOf(bed, feed, `delete from tasks where id = 1`)).toEqual(['delete tasks 1 @acme'])
  })

  it('is disarmed no further by what a restore does to the guard: "enable trigger all" makes it fire, and it does nothing', async () => {
    await bed.sql('alter table tasks disable trigger all; alter table tasks enable trigger all')
    expect(await changesOf(bed, feed, 'update tasks set id = 9 where id = 1')).toEqual([
      'delete tasks 1 @acme',
      'create tasks 9 @acme',
    ])
    await feed.migrate()
    expect(await feed.verify()).toEqual([])
    expect(await bed.sql(`select tgenabled::text as enabled from pg_trigger where tgname = '!tidemark_guard'`)).toEqual(
      [{ enabled: 'D' }],
    )
  })
})
