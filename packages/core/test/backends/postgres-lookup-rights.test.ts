import { lookupRights } from '../contract/lookup-rights.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([lookupRights])
// Policies and rights are named after the feed's schema.
onPostgres([lookupRights], { feedSchema: 'Feed Schema' })
