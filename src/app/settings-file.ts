import { join } from 'node:path'
import Conf from 'conf'
import { AppError } from '../errors.ts'
import { parseHandWritten, suggestion } from '../formats/formats.ts'
import { looksLikeKey } from '../plugins/plugins.ts'
import {
  type Environment,
  loneTlsFile,
  modelsFolderOf,
  originOf,
  type Paths,
  pathsOf,
  readSettingsFile,
  type SettingName,
  type SettingRow,
  settingNames,
  settingProblems,
  settingRow,
  settingsFile,
  unknownEntries,
} from '../settings/settings.ts'
import { whileLocked } from '../storage/storage.ts'

/** All settings with values and sources. */
export function listSettings(environment: Environment): readonly SettingRow[] {
  return (Object.keys(settingNames) as SettingName[]).map((name) => row(environment, name))
}

/** Throws `usage` with the known names for an unknown one. */
export function getSetting(environment: Environment, name: string): SettingRow {
  return row(environment, known(name))
}

/** What a user should know of the settings: entries without effect, and values that make no sense. */
export function settingNotes(environment: Environment): readonly string[] {
  const paths = pathsOf(environment)
  const stored = readSettingsFile(paths)
  return [...unknownEntries(stored, settingsFile(paths)), ...settingProblems(environment, stored)]
}

/** Writes a value, whatever other values are. Throws `invalid` for a secret, `configuration` for a bad value. */
export function setSetting(environment: Environment, name: string, value: string): SettingRow {
  const setting = known(name)
  // `config list` prints values, so a secret must not become one.
  if (value.split(/[\s,=]+/).some(looksLikeKey))
    throw new AppError('invalid', `The value for ${setting} looks like a secret; settings are not secret`, {
      details: ['Store a key under the name of its variable: aichat secret set NAME'],
    })
  const paths = pathsOf(environment)
  // The environment overrides the file, so the value is checked without it.
  const { variable } = settingNames[setting]
  const seen = { ...environment, ...(variable && { [variable]: undefined }) }
  const { [setting]: _, ...others } = readSettingsFile(paths)
  const before = settingProblems(seen, others)
  const problems = settingProblems(seen, { ...others, [setting]: value }).filter(
    (problem) => !before.includes(problem) && problem !== loneTlsFile(),
  )
  if (problems.length > 0) throw new AppError('configuration', 'Invalid settings', { details: problems })
  change(paths, (file) => file.set(setting, value))
  return row(environment, setting)
}

/** Removes a value from the settings file, also one that is no setting. Throws `usage` for a name that is neither. */
export function unsetSetting(environment: Environment, name: string): SettingRow {
  const paths = pathsOf(environment)
  const isStray = !Object.hasOwn(settingNames, name) && Object.hasOwn(readSettingsFile(paths), name)
  const removed = isStray ? name : known(name)
  change(paths, (file) => file.delete(removed))
  return isStray
    ? { name, value: '', origin: 'default', variable: null, what: 'no setting', live: false }
    : row(environment, known(removed))
}

/** The folders and files in use. */
export function settingsPaths(environment: Environment): Record<string, string> {
  const paths = pathsOf(environment)
  const models = originOf('models.folder', environment, readSettingsFile(paths)).value
  return {
    settings: settingsFile(paths),
    secrets: join(paths.config, 'secrets.json'),
    database: join(paths.data, 'aichat.db'),
    plugins: join(paths.data, 'plugins'),
    models: modelsFolderOf(models, paths),
    state: paths.state,
    cache: paths.cache,
  }
}

function row(environment: Environment, name: SettingName): SettingRow {
  return settingRow(name, environment, readSettingsFile(pathsOf(environment)))
}

function known(name: string): SettingName {
  if (Object.hasOwn(settingNames, name)) return name as SettingName
  throw new AppError(
    'usage',
    `Setting ${looksLikeKey(name) ? 'of that name' : `"${name}"`} not found${suggestion(name, Object.keys(settingNames))}`,
    {
      details: ['`aichat config list` shows all'],
    },
  )
}

/** Changes the settings file; conf reads it before, and writes it atomically. */
function change(paths: Paths, alter: (file: Conf<Record<string, string>>) => void): void {
  // The lock creates the folder: conf would let other users read it.
  whileLocked(settingsFile(paths), () => alter(store(paths.config)))
}

/** The settings file; dots in names are not paths. */
function store(folder: string): Conf<Record<string, string>> {
  return new Conf<Record<string, string>>({
    cwd: folder,
    configName: 'config',
    projectSuffix: '',
    projectName: 'aichat-toolkit',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    deserialize: (text) => parseHandWritten(text) as Record<string, string>,
  })
}
