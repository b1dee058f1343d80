import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { getSetting, listSettings, setSetting, settingNotes, settingsPaths, unsetSetting } from './file.ts'

export async function list(cli: Cli): Promise<void> {
  await print(cli, { settings: listSettings(cli.io.environment) }, ({ settings }) =>
    table(cli, settings, [
      ['SETTING', (row) => row.name],
      ['VALUE', (row) => row.value],
      ['FROM', (row) => (row.origin === 'environment' ? (row.variable ?? row.origin) : row.origin)],
      ['MEANING', (row) => row.what],
    ]),
  )
  noteFaults(cli)
}

export async function get(cli: Cli, name: string): Promise<void> {
  await print(cli, getSetting(cli.io.environment, name), ({ value }) => value)
  noteFaults(cli)
}

export async function set(cli: Cli, name: string, value: string): Promise<void> {
  await print(cli, setSetting(cli.io.environment, name, value), () => '')
  noteFaults(cli)
}

export async function unset(cli: Cli, name: string): Promise<void> {
  await print(cli, unsetSetting(cli.io.environment, name), () => '')
  noteFaults(cli)
}

export async function path(cli: Cli): Promise<void> {
  await print(cli, settingsPaths(cli.io.environment), (paths) =>
    table(cli, Object.entries(paths), [
      ['NAME', ([name]) => name],
      ['PATH', ([, path]) => path],
    ]),
  )
}

/** Names the entries of the settings file that have no effect, and the values that make no sense. */
function noteFaults(cli: Cli): void {
  for (const text of settingNotes(cli.io.environment)) note(cli, `aichat: ${text}`)
}
