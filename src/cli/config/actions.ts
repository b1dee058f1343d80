import { getSetting, listSettings, setSetting, settingNotes, settingsPaths, unsetSetting } from '../../app/app.ts'
import { isSettingName, pathsOf, readSettings, readSettingsFile, settingProblems } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

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
  await record(cli, 'settings.set', name)
  noteFaults(cli)
}

export async function unset(cli: Cli, name: string): Promise<void> {
  await print(cli, unsetSetting(cli.io.environment, name), () => '')
  await record(cli, 'settings.unset', name)
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

/** Records a change of a setting, its value left out; the change itself is made. */
async function record(cli: Cli, action: string, name: string): Promise<void> {
  // Settings that make no sense yet open no storage; `noteFaults` says so.
  if (settingProblems(cli.io.environment, readSettingsFile(pathsOf(cli.io.environment))).length > 0) return
  const [{ openApp }, { recordHere }] = await Promise.all([
    import('../../app/compose.ts'),
    import('../terminal/record.ts'),
  ])
  try {
    const app = await openApp(readSettings(cli.io.environment))
    try {
      // An entry that is no setting may be a key by mistake.
      await recordHere(cli, app, action, isSettingName(name) ? name : 'an entry that is no setting')
    } finally {
      await app.close()
    }
  } catch (reason) {
    note(cli, `aichat: the change is made, and not in the audit: ${(reason as Error).message}`)
  }
}

/** Names the entries of the settings file that have no effect, and the values that make no sense. */
function noteFaults(cli: Cli): void {
  for (const text of settingNotes(cli.io.environment)) note(cli, `aichat: ${text}`)
}
