import type { Command } from 'commander'
import { AppError } from '../errors.ts'
import type { Cli } from './cli.ts'

/** `aichat help`, `aichat completion` and what they stand on. */
export function addHelpCommands(program: Command, cli: Cli): void {
  program
    .command('completion <shell>')
    .description('print the completion script of bash, zsh or fish')
    .action(async (shell: string) => {
      const [{ completionScript }, { treeOf }] = await Promise.all([import('./completion.ts'), import('./tree.ts')])
      const script = completionScript(shell, treeOf(program))
      if (script === undefined)
        throw new AppError('usage', `There is no completion for "${shell}"`, {
          details: ['There is one for bash, zsh and fish'],
        })
      await cli.io.out(script)
    })

  program
    .command('help [topic...]')
    .description('show help about a command or a topic: environment, exit-codes, json')
    .action(async (topic: readonly string[]) => {
      const { helpAbout } = await import('./topics.ts')
      await cli.io.out(helpAbout(program, topic))
    })

  // The words that a completion script cannot know by itself; silent on any failure, and without network.
  program.command('__complete <kind>', { hidden: true }).action(async (kind: string) => {
    const { wordsOf } = await import('./completion-words.ts')
    await cli.io.out((await wordsOf(cli, kind)).map((word) => `${word}\n`).join(''))
  })

  program.command('__generate <folder>', { hidden: true }).action(async (folder: string) => {
    const { generate } = await import('./generate.ts')
    generate(program, folder)
  })
}
