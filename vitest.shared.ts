import { fileURLToPath } from 'node:url'
import type { ViteUserConfig } from 'vitest/config'

const CONDITIONS = ['@tidemark/source', 'module', 'node', 'development|production']

/** What differs from project to project. */
export interface ProjectOptions {
  /** Short name, shown before each file. */
  readonly name: string
  /** Whether its tests use the run's Postgres server (`inject('pgUrl')`). Default: false. */
  readonly database?: boolean
}

/**
 * The settings every project shares; a project's own `vitest.config.ts` calls this and nothing else.
 *
 * Files are routed by their names. `pnpm test` runs `*.test.ts(x)`. `pnpm test:systems` runs `*.systems.test.ts(x)`,
 * which need programs from the system, and of projects with a database all other files once more on the system's
 * Postgres, except `*.pglite.test.ts`. Type tests are `*.test-d.ts`; the compiler checks them (`pnpm typecheck`).
 */
export function projectConfig({ name, database = false }: ProjectOptions): ViteUserConfig {
  const systems = process.env['TIDEMARK_SUITE'] === 'systems'
  const ordinary = ['test/**/*.test.{ts,tsx}']
  const needingSystem = ['test/**/*.systems.test.{ts,tsx}']
  return {
    resolve: { conditions: CONDITIONS },
    ssr: { resolve: { conditions: CONDITIONS } },
    test: {
      name,
      include: systems && !database ? needingSystem : ordinary,
      exclude: ['**/node_modules/**', '**/dist/**', ...(systems ? ['**/*.pglite.test.{ts,tsx}'] : needingSystem)],
      globalSetup: database
        ? [fileURLToPath(new URL('./tooling/local-postgres/src/vitest-global-setup.ts', import.meta.url))]
        : [],
      env: { TZ: 'UTC' },
      pool: 'forks',
      testTimeout: 30_000,
      hookTimeout: 60_000,
      retry: 0,
      passWithNoTests: true,
      unstubEnvs: true,
    },
  }
}
