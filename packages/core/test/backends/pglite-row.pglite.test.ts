import { onPglite } from '../support/contract.ts'
import { bothLevels } from './both-levels.ts'

onPglite(bothLevels, { level: 'row' })
