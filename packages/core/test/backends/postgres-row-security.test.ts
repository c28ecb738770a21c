import { attacks } from '../contract/attacks.ts'
import { mending } from '../contract/mending.ts'
import { migrations } from '../contract/migrations.ts'
import { untracking } from '../contract/untracking.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([attacks, mending, migrations, untracking], { level: 'row' })
