import { appTriggers } from '../contract/app-triggers.ts'
import { nullTenant } from '../contract/null-tenant.ts'
import { tableChanges } from '../contract/table-changes.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([tableChanges, nullTenant, appTriggers])
