import { names } from '../contract/names.ts'
import { refusals } from '../contract/refusals.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([refusals, names])
