import { levels } from '../contract/levels.ts'
import { writeOrder } from '../contract/write-order.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([levels, writeOrder])
