import { bulk } from '../contract/bulk.ts'
import { keyTypes } from '../contract/key-types.ts'
import { names } from '../contract/names.ts'
import { refusals } from '../contract/refusals.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([keyTypes, names, bulk, refusals], { level: 'row' })
