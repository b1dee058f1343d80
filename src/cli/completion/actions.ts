import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { generate } from './generate.ts'
import { completionScript, type Shell } from './script.ts'

export async function printScript(cli: Cli, shell: Shell): Promise<void> {
  await cli.io.out(completionScript(shell))
}

export function writeGenerated(_cli: Cli, program: CliCommand, folder: string): void {
  generate(program, folder)
}
