import { treeOf } from '../help/tree.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { generate } from './generate.ts'
import { completionScript, type Shell } from './script.ts'
import { wordsOf } from './words.ts'

export async function printScript(cli: Cli, program: CliCommand, shell: Shell): Promise<void> {
  await cli.io.out(completionScript(shell, treeOf(program)))
}

/**
 * Prints the words of a kind, which the scripts ask for; prints nothing on a failure. `context` is the first argument before
 * them.
 */
export async function printWords(cli: Cli, kind: string, context?: string): Promise<void> {
  await cli.io.out((await wordsOf(cli, kind, context)).map((word) => `${word}\n`).join(''))
}

export function writeGenerated(_cli: Cli, program: CliCommand, folder: string): void {
  generate(program, folder)
}
