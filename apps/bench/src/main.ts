import { poll } from './poll/command.ts'
import { torture } from './torture/command.ts'
import { writeOverhead } from './write-overhead/command.ts'
import { writeParts } from './write-parts/command.ts'
import type { Command } from './cli/command.ts'
import { UsageError } from './cli/flags.ts'

/** The runs by name. */
const commands: Readonly<Record<string, Command>> = {
  poll,
  torture,
  'write-overhead': writeOverhead,
  'write-parts': writeParts,
}

const [name, ...flags] = process.argv.slice(2)
process.exitCode = await main(name, flags)

async function main(wanted: string | undefined, args: readonly string[]): Promise<number> {
  const command = wanted !== undefined && Object.hasOwn(commands, wanted) ? commands[wanted] : undefined
  try {
    if (command === undefined) throw new UsageError(wanted === undefined ? 'name a run' : `there is no run "${wanted}"`)
    return await command.run(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n\n${usage(command)}\n`)
    return 2
  }
}

function usage(command: Command | undefined): string {
  return `Usage: pnpm bench <name> [flags]\n\n${(command === undefined ? Object.values(commands) : [command]).map((c) => c.usage).join('\n\n')}`
}
