import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat config …`: the settings and where each value comes from. */
export function addConfigCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const config = program
    .command('config')
    .description('read and change the settings')
    .example('aichat config list', 'aichat config set api.port 3002')

  config
    .command('list')
    .description('list all settings with their values and sources')
    .example('aichat config list')
    .action(run((settings) => settings.list))

  config
    .command('get <name>')
    .description('print a setting')
    .example('aichat config get api.port')
    .action(run((settings) => settings.get))

  config
    .command('set <name> <value>')
    .description('write a setting to the settings file')
    .example('aichat config set api.port 3002', 'aichat config set chat.model openai:gpt-4.1-mini')
    .action(run((settings) => settings.set))

  config
    .command('unset <name>')
    .description('remove a setting from the settings file')
    .example('aichat config unset api.port')
    .action(run((settings) => settings.unset))

  config
    .command('path')
    .description('print the folders and files in use')
    .example('aichat config path')
    .action(run((settings) => settings.path))
}
