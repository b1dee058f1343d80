import type { Command } from 'commander'
import { type Cli, show, table } from '../terminal/cli.ts'

/** `aichat config …`: settings that last, and where each value comes from. */
export function addConfigCommands(program: Command, cli: Cli): void {
  const config = program.command('config').description('read and change the settings')

  config
    .command('list')
    .description('list every setting with its value and where that comes from')
    .action(async () => {
      const { listSettings } = await import('./file.ts')
      await show(cli, { settings: listSettings(cli.io.environment) }, ({ settings }) =>
        table(cli, settings, [
          ['SETTING', (row) => row.name],
          ['VALUE', (row) => row.value],
          ['FROM', (row) => (row.origin === 'environment' ? (row.variable ?? row.origin) : row.origin)],
          ['WHAT', (row) => row.what],
        ]),
      )
    })

  config
    .command('get <name>')
    .description('print a setting')
    .action(async (name: string) => {
      const { getSetting } = await import('./file.ts')
      const setting = getSetting(cli.io.environment, name)
      await show(cli, setting, ({ value }) => value)
    })

  config
    .command('set <name> <value>')
    .description('keep a setting in the settings file')
    .action(async (name: string, value: string) => {
      const { setSetting } = await import('./file.ts')
      const setting = await setSetting(cli.io.environment, name, value)
      await show(cli, setting, () => '')
    })

  config
    .command('unset <name>')
    .description('take a setting out of the settings file')
    .action(async (name: string) => {
      const { unsetSetting } = await import('./file.ts')
      const setting = await unsetSetting(cli.io.environment, name)
      await show(cli, setting, () => '')
    })

  config
    .command('path')
    .description('print the folders and files in use')
    .action(async () => {
      const { settingsPaths } = await import('./file.ts')
      const paths = settingsPaths(cli.io.environment)
      await show(cli, paths, (found) =>
        table(cli, Object.entries(found), [
          ['WHAT', ([what]) => what],
          ['PATH', ([, path]) => path],
        ]),
      )
    })
}
