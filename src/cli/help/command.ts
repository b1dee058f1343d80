import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat help`. */
export function addHelpCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./topics.ts'))
  program
    .command('help [topic...]')
    .description(
      'show help about a command or a topic: commands (all of them), environment, exit-codes, json, plugin-file, service (reload, stop, TLS), systemd (a unit file)',
    )
    .example('aichat help commands', 'aichat help plugin install', 'aichat help plugin-file', 'aichat help exit-codes')
    .action((words: readonly string[]) => run((topics) => topics.printHelp)(program, words))
}
