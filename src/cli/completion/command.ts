import { Argument } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import type { Shell } from './script.ts'

const shells: readonly Shell[] = ['bash', 'zsh', 'fish']

/** `aichat completion`, and the hidden command behind `npm run docs`. */
export function addCompletionCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))

  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(shells))
    .description('print the completion script of a shell: bash, zsh or fish')
    .example('source <(aichat completion bash)', 'aichat completion fish > ~/.config/fish/completions/aichat.fish')
    .action((shell: Shell) => run((scripts) => scripts.printScript)(program, shell))

  program
    .command('__generate <folder>', { hidden: true })
    .action((folder: string) => run((files) => files.writeGenerated)(program, folder))
}

/** The hidden command that the scripts ask for words. */
export function addWordsCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./words.ts'))
  program.command('__complete <kind> [context]', { hidden: true }).action(run((words) => words.printWords))
}
