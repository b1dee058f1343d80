import { Argument, type Command } from 'commander'
import type { Cli } from './cli.ts'
import type { Shell } from './completion.ts'

const shells: readonly Shell[] = ['bash', 'zsh', 'fish']

/** `aichat help`, `aichat completion` and what they stand on. */
export function addHelpCommands(program: Command, cli: Cli): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(shells))
    .description('print the completion script of bash, zsh or fish')
    .action(async (shell: Shell) => {
      const [{ completionScript }, { treeOf }] = await Promise.all([import('./completion.ts'), import('./tree.ts')])
      await cli.io.out(completionScript(shell, treeOf(program)))
    })

  program
    .command('help [topic...]')
    .description('show help about a command or a topic: environment, exit-codes, json, systemd (a unit file)')
    .action(async (topic: readonly string[]) => {
      const { helpAbout } = await import('./topics.ts')
      await cli.io.out(helpAbout(program, topic))
    })

  // The words that a completion script cannot know by itself; silent on any failure.
  program.command('__complete <kind>', { hidden: true }).action(async (kind: string) => {
    const { wordsOf } = await import('./completion-words.ts')
    await cli.io.out((await wordsOf(cli, kind)).map((word) => `${word}\n`).join(''))
  })

  program.command('__generate <folder>', { hidden: true }).action(async (folder: string) => {
    const { generate } = await import('./generate.ts')
    generate(program, folder)
  })
}
