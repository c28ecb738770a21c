import { migrations } from '../contract/migrations.ts'
import { untracking } from '../contract/untracking.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([migrations, untracking])
