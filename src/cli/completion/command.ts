import { Argument } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat completion`, and the hidden commands behind `npm run docs` and a Tab. */
export function addCompletionCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const complete = lazyActions(cli, () => import('./complete.ts'))

  program
    .command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish'] as const))
    .description('print the completion script of a shell: bash, zsh or fish')
    .example('source <(aichat completion bash)', 'aichat completion fish > ~/.config/fish/completions/aichat.fish')
    .action(run((scripts) => scripts.printScript))

  program.command('__manual', { hidden: true }).action(() => run((facts) => facts.printFacts)(program))

  program
    .command('__complete [words...]', { hidden: true })
    .action((words: readonly string[]) => complete((choices) => choices.printChoices)(program, words))
}
