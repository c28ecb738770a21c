import { type Audience, readChanges, type ReadResult } from '@tidemark/core'
import type { Transaction } from 'kysely'
import type { Side } from './schema.ts'
import type { TortureDatabase, TortureTable } from './tables.ts'

/** What a chain asks for its next page. */
export interface PageRequest {
  readonly since: string
  readonly limit: number
  readonly tables?: readonly TortureTable[]
  readonly transaction?: Transaction<TortureDatabase>
}

/** A way to read the feed: the library's, or one that is known to be wrong. */
export type PageReader = (side: Side, audience: Audience, request: PageRequest) => Promise<ReadResult<TortureTable>>

/** The library's way. */
export const productionReader: PageReader = (side, audience, request) => readChanges(side.feed, audience, request)
