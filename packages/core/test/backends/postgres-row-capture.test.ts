import { cascadesBothWays } from '../contract/cascades-both-ways.ts'
import { captureCascades } from '../contract/capture-cascades.ts'
import { captureMoves } from '../contract/capture-moves.ts'
import { captureNoOps } from '../contract/capture-no-ops.ts'
import { captureStatements } from '../contract/capture-statements.ts'
import { captureTruncate } from '../contract/capture-truncate.ts'
import { onPostgres } from '../support/contract.ts'

onPostgres([captureStatements, captureMoves, captureNoOps, captureCascades, cascadesBothWays, captureTruncate], {
  level: 'row',
})
