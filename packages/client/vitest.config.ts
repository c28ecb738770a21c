import { defineConfig } from 'vitest/config'
import { projectConfig } from '../../vitest.shared.ts'

export default defineConfig(projectConfig({ name: 'client', database: true }))
