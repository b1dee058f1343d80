import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat help`. */
export function addHelpCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./topics.ts'))
  const find = lazyActions(cli, () => import('./pages.ts'))
  program
    .command('help [topic...]')
    .description(
      'show help about a command, a page of the manual (`manual` lists them), or a topic: commands (all of them), environment, exit-codes, json, plugin-file, service (reload, stop, TLS), systemd (a unit file)',
    )
    .option('--search <text>', 'print the lines of the manual that contain this text')
    .example('aichat help aichat-persona', 'aichat help --search floor', 'aichat help plugin install')
    .action((words: readonly string[], { search }: { readonly search?: string }) =>
      search === undefined
        ? run((topics) => topics.printHelp)(program, words)
        : find((pages) => pages.printSearch)(search),
    )
}
