import { setTimeout as pause } from 'node:timers/promises'
import { LockTimeoutError } from '../../errors.ts'
import type { MigrateOptions } from '../../feed.ts'
import type { AnyTransaction, FeedSetup } from '../dialect.ts'
import { lockInstallation } from './lock-installation.ts'
import { DEADLOCK_DETECTED, isMissingObject, LOCK_NOT_AVAILABLE, run, sqlState } from './run.ts'

export type LockOptions = Pick<MigrateOptions, 'lockTimeoutMs' | 'lockAttempts'>

const LOCK_TIMEOUT_MS = 2000
const LOCK_ATTEMPTS = 10

/** Else a function's settings are stored with quotes, and look like somebody else's. */
const PLAIN_NAMES = 'set local quote_all_identifiers = off'

/**
 * Runs `work` under the installation lock with a short wait for table locks: while it waits, writers queue behind it. Once more, too, when something
 * it had looked at was dropped or renamed meanwhile: the next look finds that out.
 */
export async function withLockRetries<T>(
  setup: FeedSetup,
  table: string,
  { lockTimeoutMs = LOCK_TIMEOUT_MS, lockAttempts = LOCK_ATTEMPTS }: LockOptions,
  work: (trx: AnyTransaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await setup.db.transaction().execute(async (trx) => {
        await lockInstallation(trx, setup.schema)
        await run(trx, `set local lock_timeout = ${Math.max(1, Math.trunc(lockTimeoutMs))}`)
        await run(trx, PLAIN_NAMES)
        return await work(trx)
      })
    } catch (error) {
      const lock = sqlState(error) === LOCK_NOT_AVAILABLE || sqlState(error) === DEADLOCK_DETECTED
      if (!lock && !(isMissingObject(error) && attempt <= LOOKS)) throw error
      if (lock && attempt >= lockAttempts) throw new LockTimeoutError(table, { cause: error })
      await pause(Math.random() * 200 * attempt)
    }
  }
}

/** How often a change under way is looked at again. */
const LOOKS = 3
