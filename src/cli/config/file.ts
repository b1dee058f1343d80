import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Conf from 'conf'
import { AppError } from '../../errors.ts'
import { looksLikeKey } from '../../plugins/key-shapes.ts'
import {
  type Environment,
  originOf,
  readSettings,
  readSettingsFile,
  type SettingName,
  settingNames,
  settingsFile,
} from '../../settings/settings.ts'

export interface SettingRow {
  readonly name: string
  readonly value: string
  readonly origin: string
  readonly variable: string | null
  readonly what: string
}

/** Every setting, whatever says its value. */
export function listSettings(environment: Environment): readonly SettingRow[] {
  return (Object.keys(settingNames) as SettingName[]).map((name) => row(environment, name))
}

/** Throws `usage` with the known names. */
export function getSetting(environment: Environment, name: string): SettingRow {
  return row(environment, known(name))
}

/** Keeps a value after checking that the settings make sense with it. */
export async function setSetting(environment: Environment, name: string, value: string): Promise<SettingRow> {
  const setting = known(name)
  // Settings are listed for everybody who looks over the shoulder.
  if (value.split(/[\s,=]+/).some(looksLikeKey))
    throw new AppError('invalid', `The value for ${setting} looks like a secret, which no setting is`, {
      details: ['Store a key under the name of its variable: aichat secret set NAME'],
    })
  const { paths } = readSettings(environment)
  // The environment goes before the file, so the value is judged without it.
  const { variable } = settingNames[setting]
  readSettings(
    { ...environment, ...(variable && { [variable]: undefined }) },
    { ...readSettingsFile(paths), [setting]: value },
  )
  store(paths.config).set(setting, value)
  return row(environment, setting)
}

export async function unsetSetting(environment: Environment, name: string): Promise<SettingRow> {
  const setting = known(name)
  store(readSettings(environment).paths.config).delete(setting)
  return row(environment, setting)
}

/** The folders and files in use. */
export function settingsPaths(environment: Environment): Record<string, string> {
  const { paths, modelsFolder } = readSettings(environment)
  return {
    settings: settingsFile(paths),
    secrets: join(paths.config, 'secrets.json'),
    database: join(paths.data, 'aichat.db'),
    plugins: join(paths.data, 'plugins'),
    models: modelsFolder,
    state: paths.state,
    cache: paths.cache,
  }
}

function row(environment: Environment, name: SettingName): SettingRow {
  const { paths } = readSettings({ ...environment })
  const { variable, what } = settingNames[name]
  return { name, ...originOf(name, environment, readSettingsFile(paths)), variable: variable ?? null, what }
}

function known(name: string): SettingName {
  if (Object.hasOwn(settingNames, name)) return name as SettingName
  throw new AppError('usage', `There is no setting ${looksLikeKey(name) ? 'of that name' : `"${name}"`}`, {
    details: Object.keys(settingNames),
  })
}

/** The settings file, written atomically by conf; names hold dots and are no paths. */
function store(folder: string): Conf<Record<string, string>> {
  // conf would make the folder readable by everybody.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return new Conf<Record<string, string>>({
    cwd: folder,
    configName: 'config',
    projectSuffix: '',
    projectName: 'aichat-toolkit',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  })
}
