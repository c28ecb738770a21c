import { attacks } from '../contract/attacks.ts'
import { mending } from '../contract/mending.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([attacks, mending])
