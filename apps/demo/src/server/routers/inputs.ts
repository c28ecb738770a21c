import { z } from 'zod'

/** A key of `shipments` or `notes`, as text. */
export const rowId = z.string().regex(/^[1-9]\d{0,17}$/, 'must be a number in decimal digits')

/** A whole number within bounds; `error` says which. */
export function wholeNumber(error: string, least: number, most: number) {
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** A key of `cities`. */
export const cityId = wholeNumber('choose a city of the list', 1, 2_147_483_647)
