import { attacks } from '../contract/attacks.ts'
import { captureMoves } from '../contract/capture-moves.ts'
import { captureStatements } from '../contract/capture-statements.ts'
import { captureTruncate } from '../contract/capture-truncate.ts'
import { mending } from '../contract/mending.ts'
import { migrations } from '../contract/migrations.ts'
import { untracking } from '../contract/untracking.ts'
import { onPostgres } from '../support/contract.ts'

// Nothing may depend on what the feed's schema is called.
onPostgres([captureStatements, captureMoves, captureTruncate, attacks, mending, migrations, untracking], {
  feedSchema: 'Feed Schema',
})
onPostgres([captureMoves, mending], { feedSchema: 'Feed Schema', level: 'row' })
