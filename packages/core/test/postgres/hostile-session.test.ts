import { beforeEach, describe, expect, it } from 'vitest'
import { feedOn, quoted } from '../support/bed.ts'
import { catalogueListing } from '../support/catalogue-listing.ts'
import { changesOf } from '../support/changes.ts'
import { bedFrom } from '../support/contract.ts'
import { openPostgres } from '../support/postgres-bed.ts'

// Whatever a database, a role or a connection has set: what is installed is the same, and is found to be the same.

const settings = [
  'quote_all_identifiers=on',
  'standard_conforming_strings=off',
  'backslash_quote=on',
  'datestyle=German',
  'intervalstyle=sql_standard',
  'timezone=Pacific/Chatham',
  'bytea_output=escape',
  'extra_float_digits=-15',
  'array_nulls=off',
  'transform_null_equals=on',
  'row_security=off',
  'check_function_bodies=off',
  'client_encoding=latin1',
  'default_transaction_isolation=serializable',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

const odd = `back\\slash's "name"`
const declared = {
  tasks: { tenant: 'org', key: 'id', scopes: ['v'] },
  [odd]: { tenant: null, key: odd },
} as const
const ddl = `create table tasks (id int primary key deferrable, org text not null, v int);
  create table ${quoted(odd)} (${quoted(odd)} timestamptz primary key);
  alter table tasks enable row level security`

describe.each(['statement', 'row'] as const)('a session with hostile settings, and triggers for each %s', (level) => {
  const bed = bedFrom(() => openPostgres({ level }))
  beforeEach(async () => {
    await bed().reset()
    await bed().sql(ddl)
  })

  it('installs what any other session installs', async () => {
    await feedOn(bed(), declared).migrate()
    const expected = await catalogueListing(bed())
    await bed().reset()
    await bed().sql(ddl)
    await using hostile = bed().connect({ settings })
    await feedOn(bed(), declared, { db: hostile.db }).migrate()
    expect(await catalogueListing(bed())).toBe(expected)
    expect(await feedOn(bed(), declared).verify()).toEqual([])
  })

  it('finds nothing to mend in what another session has installed, and finds what there is', async () => {
    const feed = feedOn(bed(), declared)
    await feed.migrate()
    await using hostile = bed().connect({ settings })
    const there = feedOn(bed(), declared, { db: hostile.db })
    expect(await there.verify()).toEqual([])
    expect(await there.migrate()).toEqual({ migrations: [], installed: [] })
    await bed().sql('alter table tasks disable trigger all')
    expect(await there.verify()).toMatchObject([{ code: 'trigger', table: 'tasks' }])
    expect(await there.migrate()).toEqual({ migrations: [], installed: ['tasks'] })
    expect(await feed.verify()).toEqual([])
    expect(await changesOf(bed(), feed, `insert into tasks values (1, 'acme', 0)`)).toEqual(['create tasks 1 @acme'])
  })
})
