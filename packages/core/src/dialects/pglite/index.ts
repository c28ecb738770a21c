export { PgliteDialect } from './pglite-dialect.ts'
export type {
  PgliteDialectConfig,
  PgliteLike,
  PgliteQueryable,
  PgliteResults,
  PgliteTransactionLike,
} from './pglite-config.ts'
