import { allTenants } from '@tidemark/core'
import { createTestDatabase } from '@tidemark/local-postgres/testing'
import { sql } from 'kysely'
import { runChain } from '../../src/torture/chain.ts'
import { judgeRun } from '../../src/torture/judge-run.ts'
import { newWriterStats } from '../../src/torture/kinds.ts'
import { Partitions } from '../../src/torture/partitions.ts'
import { Random } from '../../src/torture/random.ts'
import { productionReader } from '../../src/torture/readers.ts'
import type { TortureReport } from '../../src/torture/report.ts'
import { dropOwner, installSchema, openSide, ownerRole, type Side } from '../../src/torture/schema.ts'
import { seedRows } from '../../src/torture/seed-rows.ts'
import { Witness } from '../../src/torture/witness.ts'
import { inTransaction, type Operation, type WriterWorld } from '../../src/torture/writer-context.ts'

const all = allTenants('the small run compares every entry')

/** A torture of one writer that does what it is told, and one reader that reads when it is asked. */
export class SmallRun implements AsyncDisposable {
  readonly side: Side
  readonly random: Random = new Random(11, 1)
  readonly #world: WriterWorld
  readonly #drop: () => Promise<void>

  private constructor(side: Side, world: WriterWorld, drop: () => Promise<void>) {
    this.side = side
    this.#world = world
    this.#drop = drop
  }

  static async open(): Promise<SmallRun> {
    const database = await createTestDatabase()
    const owner = ownerRole(database.url)
    const side = openSide(database.url, { max: 3 })
    const witness = new Witness()
    witness.sawMigrate(await installSchema(side, owner))
    const { rows } = await sql<{
      version: number
    }>`select current_setting('server_version_num')::int as version`.execute(side.db)
    const world: WriterWorld = {
      side,
      witness,
      stats: newWriterStats(),
      stopping: () => false,
      canPrepare: true,
      major: Math.trunc((rows[0]?.version ?? 0) / 10_000),
      mayBulk: () => true,
      wroteBulk: () => {},
      partitions: new Partitions(),
    }
    const run = new SmallRun(side, world, async () => {
      await dropOwner(side, owner)
      await side.db.destroy()
      await database.drop()
    })
    await seedRows(world, run.random)
    return run
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#drop()
  }

  /** One transaction; returns whether it committed. */
  async write(operation: Operation, whose = 'east'): Promise<boolean> {
    return await inTransaction(this.#world, this.random, {
      isolation: 'read committed',
      end: 'commit',
      work: (work) => operation(work, whose),
    })
  }

  /** Writes while a chain of the library's reader follows, and judges the chain and all that was written. */
  async judged(from: 'start' | 'now', writes: () => Promise<unknown>): Promise<TortureReport> {
    let [done, reads, begun] = [false, 0, (): void => {}]
    const beginning = new Promise<void>((resolve) => {
      begun = resolve
    })
    const reading = runChain(
      {
        // The second read of a chain from now comes after it has loaded what was there.
        read: (...request) => {
          reads += 1
          if (reads === (from === 'now' ? 2 : 1)) begun()
          return productionReader(...request)
        },
        sides: [this.side, this.side],
        writersDone: () => done,
        expired: () => false,
        adverse: false,
      },
      { name: 'all', audience: all, from, begins: 0, limit: 500, pauseMs: 20, reads: true },
      this.random,
      0,
    )
    await Promise.race([beginning, reading])
    await writes().finally(() => void (done = true))
    const record = await reading
    const { witness, stats } = this.#world
    const run = { seed: 0, flaw: undefined, writersMs: 0, writers: 1 }
    return await judgeRun(this.side, { witness, stats, records: [record], ...run })
  }
}

/** What a sound feed makes of any run. */
export const FAULTLESS = {
  missed: 0,
  repeated: 0,
  outOfOrder: 0,
  foreign: 0,
  wrong: 0,
  uncaptured: 0,
  unexplained: 0,
  misleading: 0,
  replicaFaults: 0,
  replicaDiffers: 0,
  cutFaults: 0,
} as const
