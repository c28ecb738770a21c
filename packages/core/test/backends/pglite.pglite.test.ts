import { explicit } from '../contract/explicit.ts'
import { explicitInput } from '../contract/explicit-input.ts'
import { refusals } from '../contract/refusals.ts'
import { snapshotCursor } from '../contract/snapshot-cursor.ts'
import { untracking } from '../contract/untracking.ts'
import { onPglite } from '../support/contract.ts'
import { bothLevels } from './both-levels.ts'

onPglite([...bothLevels, explicit, explicitInput, refusals, snapshotCursor, untracking])
