import type { CaptureOperation } from './capture-functions.ts'

/*
 * Names of what capture puts on a table and into the feed's schema. None is derived from a table's name, so none is ever cut at 63 bytes, and two feeds on
 * one table do not collide (docs/capture.md, "Statement triggers").
 */

/** Trigger function, without its schema. */
export function functionName(number: number, operation: CaptureOperation): string {
  return `c${number}_${operation}`
}

/** `"!<schema>_<op>"`: sorts before every other trigger. */
export function triggerName(schema: string, operation: CaptureOperation): string {
  return `!${schema}_${operation}`
}

/** The guard: never fires, but makes Postgres refuse to drop or retype the columns that capture reads, and names itself in that error. */
export function guardName(schema: string): string {
  return `!${schema}_guard`
}

/** The policy that lets the capture role see all rows of a table whose keys it looks up. */
export function policyName(schema: string): string {
  return `!${schema}_keys`
}
