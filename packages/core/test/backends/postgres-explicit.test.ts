import { expect, it } from 'vitest'
import { notify, tenant } from '../../src/index.ts'
import { explicit } from '../contract/explicit.ts'
import { explicitInput } from '../contract/explicit-input.ts'
import { feedOn } from '../support/bed.ts'
import { changesBy } from '../support/changes.ts'
import { type Contract, onPostgres } from '../support/contract.ts'
import type { PostgresBed } from '../support/postgres-bed.ts'

const oneConnection: Contract<PostgresBed> = (bed) => {
  it('an explicit append needs no second connection', async () => {
    await bed().reset()
    await bed().sql('create table tasks (id int primary key, tenant_id int not null)')
    await using small = bed().connect({ max: 1 })
    const feed = feedOn(bed(), { tasks: { tenant: 'tenant_id', key: 'id' } }, { db: small.db })
    await feed.migrate()
    // A process that has just started knows neither the feed's catalogue nor any tenant's text.
    const fresh = feedOn(bed(), { tasks: { tenant: 'tenant_id', key: 'id' } }, { db: small.db })
    const changes = await changesBy(feed, () =>
      small.db
        .transaction()
        .execute((trx) => notify(fresh, trx, tenant('42'), { entries: [{ table: 'tasks', keys: ['1'] }] })),
    )
    expect(changes).toEqual(['update tasks 1 @42'])
  })
}

onPostgres([explicit, explicitInput, oneConnection])
