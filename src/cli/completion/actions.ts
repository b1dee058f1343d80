import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../app/app.ts'
import { manualPages } from '../help/pages.ts'
import { factsOf, pluginFields } from '../help/plugin-file.ts'
import { environmentTopic, exitCodes } from '../help/topics.ts'
import { treeOf } from '../help/tree.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** The scripts in the folder `completions`, where shells find them too. */
const scripts = { bash: 'aichat.bash', zsh: '_aichat', fish: 'aichat.fish' }

export async function printScript(cli: Cli, shell: keyof typeof scripts): Promise<void> {
  await cli.io.out(readFileSync(join(packageFolder('completions'), scripts[shell]), 'utf8'))
}

/** What the pages of the manual are made of, by `bin/docs.mjs`. */
export function manualFacts(program: CliCommand) {
  const fields = pluginFields().map((field) => ({ ...field, schema: undefined, facts: factsOf(field) }))
  return { root: treeOf(program), pages: manualPages(), environment: environmentTopic, exitCodes, fields }
}

export async function printFacts(cli: Cli, program: CliCommand): Promise<void> {
  await cli.io.out(JSON.stringify(manualFacts(program)))
}
