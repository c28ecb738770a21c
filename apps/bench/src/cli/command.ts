/** One run of this program. */
export interface Command {
  /** Name, flags and what they mean, as shown for wrong arguments. */
  readonly usage: string
  /** Runs it and returns the exit code. Throws `UsageError` for wrong flags. */
  run(args: readonly string[]): Promise<number>
}
