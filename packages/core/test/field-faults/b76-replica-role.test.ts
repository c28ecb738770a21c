import { replicaRole } from '../contract/replica-role.ts'
import { onPostgres } from '../support/contract.ts'

// B76: writes in the replica role (logical replication, restore tools) do not fire ordinary triggers and are missing from the feed.

onPostgres([replicaRole])
onPostgres([replicaRole], { level: 'row' })
