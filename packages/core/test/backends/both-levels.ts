import { appTriggers } from '../contract/app-triggers.ts'
import { attacks } from '../contract/attacks.ts'
import { bulk } from '../contract/bulk.ts'
import { captureCascades } from '../contract/capture-cascades.ts'
import { captureMoves } from '../contract/capture-moves.ts'
import { captureNoOps } from '../contract/capture-no-ops.ts'
import { captureStatements } from '../contract/capture-statements.ts'
import { captureTruncate } from '../contract/capture-truncate.ts'
import { cascadesBothWays } from '../contract/cascades-both-ways.ts'
import { keyTypes } from '../contract/key-types.ts'
import { mending } from '../contract/mending.ts'
import { migrations } from '../contract/migrations.ts'
import { names } from '../contract/names.ts'
import { nestedWrites } from '../contract/nested-writes.ts'
import { nullTenant } from '../contract/null-tenant.ts'
import { replicaRole } from '../contract/replica-role.ts'
import { sessionSettings } from '../contract/session-settings.ts'
import { tableChanges } from '../contract/table-changes.ts'
import type { Contract } from '../support/contract.ts'

/** What must hold with statement triggers and with row triggers alike. */
export const bothLevels: readonly Contract[] = [
  appTriggers,
  attacks,
  bulk,
  captureCascades,
  captureMoves,
  captureNoOps,
  captureStatements,
  captureTruncate,
  cascadesBothWays,
  keyTypes,
  mending,
  migrations,
  names,
  nestedWrites,
  nullTenant,
  replicaRole,
  sessionSettings,
  tableChanges,
]
