import type { PGlite, Transaction } from '@electric-sql/pglite'
import { Kysely } from 'kysely'
import { expectTypeOf } from 'vitest'
import { PgliteDialect, type PgliteLike, type PgliteTransactionLike } from '../../src/dialects/pglite/index.ts'
import type { DB } from './support.ts'

// The structural interface fits the real library.
expectTypeOf<PGlite>().toExtend<PgliteLike>()
expectTypeOf<Transaction>().toExtend<PgliteTransactionLike>()

declare const pglite: PGlite
expectTypeOf(new Kysely<DB>({ dialect: new PgliteDialect({ pglite }) })).toEqualTypeOf<Kysely<DB>>()
void new PgliteDialect({ pglite: () => pglite })
void new PgliteDialect({ pglite: async () => pglite })
// @ts-expect-error -- something has to be given
void new PgliteDialect({})
