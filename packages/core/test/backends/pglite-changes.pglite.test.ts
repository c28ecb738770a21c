import { levels } from '../contract/levels.ts'
import { lookupRights } from '../contract/lookup-rights.ts'
import { partitionChanges } from '../contract/partition-changes.ts'
import { partitionMending } from '../contract/partition-mending.ts'
import { partitionMoves } from '../contract/partition-moves.ts'
import { partitionRefusals } from '../contract/partition-refusals.ts'
import { partitions } from '../contract/partitions.ts'
import { schemaChanges } from '../contract/schema-changes.ts'
import { schemaChangesAnnounced } from '../contract/schema-changes-announced.ts'
import { schemaChangesTable } from '../contract/schema-changes-table.ts'
import { schemaChangesTracked } from '../contract/schema-changes-tracked.ts'
import { writeOrder } from '../contract/write-order.ts'
import { onPglite } from '../support/contract.ts'

onPglite([
  levels,
  lookupRights,
  partitionChanges,
  partitionMending,
  partitionMoves,
  partitionRefusals,
  partitions,
  schemaChanges,
  schemaChangesAnnounced,
  schemaChangesTable,
  schemaChangesTracked,
  writeOrder,
])
