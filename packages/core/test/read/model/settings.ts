/**
 * The models play the same schedules each time. Others, or more of them:
 *
 *     TIDEMARK_MODEL_SEED=1234 TIDEMARK_MODEL_RUNS=500000 pnpm test --project core test/read/model
 *
 * A failure prints its seed, and the schedule after shrinking.
 */
export const SEED: number = wholeNumber('TIDEMARK_MODEL_SEED', 20_261)

/** Schedules of each of the two models. */
export const RUNS: number = wholeNumber('TIDEMARK_MODEL_RUNS', 12_000)

/** Milliseconds that a model may take: many times what it needs. */
export const MODEL_TIMEOUT: number = 30_000 + RUNS * 20

function wholeNumber(name: string, otherwise: number): number {
  const given = process.env[name]
  if (given === undefined || given === '') return otherwise
  const value = Number(given)
  if (!Number.isInteger(value)) throw new Error(`${name} must be a whole number`)
  return value
}
