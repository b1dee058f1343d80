import { Argument, type Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import type { Shell } from './script.ts'

const shells: readonly Shell[] = ['bash', 'zsh', 'fish']

/** `aichat completion`, and the hidden commands behind the scripts and the generated files. */
export function addCompletionCommands(program: Command, cli: Cli): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(shells))
    .description('print the completion script of bash, zsh or fish')
    .action(async (shell: Shell) => {
      const [{ completionScript }, { treeOf }] = await Promise.all([import('./script.ts'), import('../help/tree.ts')])
      await cli.io.out(completionScript(shell, treeOf(program)))
    })

  // The words that a completion script cannot know by itself; silent on any failure.
  program.command('__complete <kind>', { hidden: true }).action(async (kind: string) => {
    const { wordsOf } = await import('./words.ts')
    await cli.io.out((await wordsOf(cli, kind)).map((word) => `${word}\n`).join(''))
  })

  program.command('__generate <folder>', { hidden: true }).action(async (folder: string) => {
    const { generate } = await import('./generate.ts')
    generate(program, folder)
  })
}
