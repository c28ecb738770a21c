import { appTriggers } from '../contract/app-triggers.ts'
import { nestedWrites } from '../contract/nested-writes.ts'
import { nullTenant } from '../contract/null-tenant.ts'
import { sessionSettings } from '../contract/session-settings.ts'
import { tableChanges } from '../contract/table-changes.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([tableChanges, nullTenant, appTriggers, nestedWrites, sessionSettings], { level: 'row' })
