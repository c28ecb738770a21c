import { keyTypes } from '../contract/key-types.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([keyTypes])
