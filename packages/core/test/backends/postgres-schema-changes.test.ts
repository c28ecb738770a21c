import { schemaChanges } from '../contract/schema-changes.ts'
import { schemaChangesAnnounced } from '../contract/schema-changes-announced.ts'
import { schemaChangesTable } from '../contract/schema-changes-table.ts'
import { schemaChangesTracked } from '../contract/schema-changes-tracked.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([schemaChanges, schemaChangesAnnounced, schemaChangesTracked, schemaChangesTable])
onPostgres([schemaChangesTracked, schemaChangesTable], { level: 'row' })
