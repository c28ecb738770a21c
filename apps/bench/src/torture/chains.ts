import { allTenants, type Audience, globalOnly, tenant } from '@tidemark/core'
import { BULKY, ODD, QUIET, type TortureTable, tortureTables } from './tables.ts'

/** One reader of the feed, from its first cursor to the end of the run. */
export interface ChainSpec {
  readonly name: string
  readonly audience: Audience
  readonly from: 'start' | 'now'
  /** When it begins, as a share of the run. */
  readonly begins: number
  readonly limit: number
  readonly tables?: readonly TortureTable[]
  /** Longest pause between pages once it has caught up, and for slow ones between any two. */
  readonly pauseMs: number
  readonly slow?: boolean
  /** Whether it keeps a replica of the rows it reads. */
  readonly reads?: boolean
}

const all = allTenants('the torture run compares every entry')

/** Sixteen chains; the tiny limits stand on audiences that get no bulk writes. */
export const chainSpecs: readonly ChainSpec[] = [
  {
    name: 'quiet lines by 1',
    audience: tenant(QUIET),
    from: 'start',
    begins: 0,
    limit: 1,
    tables: ['app.Order Lines'],
    pauseMs: 10,
  },
  { name: 'global by 1', audience: globalOnly, from: 'start', begins: 0.05, limit: 1, pauseMs: 15 },
  { name: 'quiet by 2', audience: tenant(QUIET), from: 'start', begins: 0, limit: 2, pauseMs: 5, reads: true },
  { name: 'east by 3', audience: tenant('east'), from: 'start', begins: 0.1, limit: 3, pauseMs: 5, reads: true },
  { name: 'odd by 7', audience: tenant(ODD), from: 'start', begins: 0, limit: 7, pauseMs: 25, slow: true, reads: true },
  { name: 'global by 13', audience: globalOnly, from: 'start', begins: 0.5, limit: 13, pauseMs: 40, reads: true },
  {
    name: 'every line by 20',
    audience: all,
    from: 'start',
    begins: 0.35,
    limit: 20,
    tables: ['app.Order Lines', 'slots'],
    pauseMs: 20,
  },
  {
    name: 'north by 53, slow',
    audience: tenant(BULKY[0]),
    from: 'start',
    begins: 0,
    limit: 53,
    pauseMs: 120,
    slow: true,
    reads: true,
  },
  { name: 'all by 100', audience: all, from: 'start', begins: 0, limit: 100, pauseMs: 10, reads: true },
  {
    name: 'south by 250',
    audience: tenant(BULKY[1]),
    from: 'start',
    begins: 0.6,
    limit: 250,
    pauseMs: 10,
    reads: true,
  },
  { name: 'south by 500', audience: tenant(BULKY[1]), from: 'start', begins: 0, limit: 500, pauseMs: 60 },
  { name: 'all by 500, slow', audience: all, from: 'start', begins: 0.2, limit: 500, pauseMs: 700, slow: true },
  { name: 'quiet from now by 1', audience: tenant(QUIET), from: 'now', begins: 0.4, limit: 1, pauseMs: 5 },
  { name: 'north from now by 37', audience: tenant(BULKY[0]), from: 'now', begins: 0.3, limit: 37, pauseMs: 15 },
  { name: 'all from now by 400', audience: all, from: 'now', begins: 0.5, limit: 400, pauseMs: 20, reads: true },
  { name: 'global from now by 5', audience: globalOnly, from: 'now', begins: 0.7, limit: 5, pauseMs: 30 },
]

/** The tables a chain sees. */
export function tablesOf(spec: ChainSpec): readonly TortureTable[] {
  return spec.tables ?? tortureTables
}
