import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../app/app.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import type { Shell } from './command.ts'
import { generate } from './generate.ts'

/** The scripts in the folder `completions`, where shells find them too. */
const scripts: Readonly<Record<Shell, string>> = { bash: 'aichat.bash', zsh: '_aichat', fish: 'aichat.fish' }

export async function printScript(cli: Cli, shell: Shell): Promise<void> {
  await cli.io.out(readFileSync(join(packageFolder('completions'), scripts[shell]), 'utf8'))
}

export function writeGenerated(_cli: Cli, program: CliCommand, folder: string): void {
  generate(program, folder)
}
