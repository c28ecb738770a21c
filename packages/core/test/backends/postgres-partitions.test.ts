import { partitionChanges } from '../contract/partition-changes.ts'
import { partitionMending } from '../contract/partition-mending.ts'
import { partitionMoves } from '../contract/partition-moves.ts'
import { partitionRefusals } from '../contract/partition-refusals.ts'
import { partitions } from '../contract/partitions.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([partitions, partitionMoves, partitionChanges, partitionMending, partitionRefusals])
// Triggers are named after the feed's schema.
onPostgres([partitionMending], { feedSchema: 'Feed Schema' })
