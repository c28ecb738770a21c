/** Progress for people, on stderr: stdout belongs to the result. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** The result, as the last line of stdout: one line of JSON, or the same for people. */
export function printResult(result: Readonly<Record<string, unknown>>, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${forPeople(result)}\n`)
}

function forPeople(result: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(result).map((key) => key.length))
  return Object.entries(result)
    .map(([key, value]) => `${key.padEnd(width)}  ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join('\n')
}
