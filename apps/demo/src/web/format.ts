const countries = new Intl.DisplayNames('en', { type: 'region' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const dayAndClock = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' })

/** `'NL'` becomes `'Netherlands'`. */
export function countryName(code: string): string {
  try {
    return countries.of(code) ?? code
  } catch {
    // Anyone may write the table by SQL.
    return code
  }
}

/** `14:03:22`, where the reader is. */
export function clockTime(date: Date): string {
  return clock.format(date)
}

/** `Mon 14:03`, where the reader is. */
export function dayTime(date: Date): string {
  return dayAndClock.format(date)
}

/** `18,400`. */
export function number(value: number): string {
  return value.toLocaleString('en')
}
