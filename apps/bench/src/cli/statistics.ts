/** Middle value; the mean of the middle two of an even number. `NaN` for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** Rounds to `digits` decimals, for printing. */
export function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits))
}
