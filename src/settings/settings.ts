/**
 * Settings from the environment, credentials of systemd and the settings file, each with its origin; with
 * `cli/terminal/io.ts`, which passes it, the only reader of
 * the environment.
 * Uses: `formats`, and `plugins` for the rules of names.
 * Begin with: `read-settings.ts` (`settingNames` describes every setting).
 */
export { databaseName } from './database-url.ts'
export { parseLifetime } from './duration.ts'
export { homeFolder } from './folders.ts'
export { type LiveSettings, liveSettings, settingValues } from './live-settings.ts'
export {
  type Aliases,
  aliasFile,
  isAliasName,
  isAliasTarget,
  mostAliases,
  readAliases,
  resolveAlias,
} from './model-aliases.ts'
export {
  type Environment,
  isSettingName,
  type Limits,
  type LogLevel,
  leastCodebooks,
  loneTlsFile,
  modelsFolderOf,
  mostCodebooks,
  originOf,
  type Paths,
  pathsOf,
  readSecret,
  readSettings,
  readSettingsFile,
  restartSettings,
  type SettingName,
  type SettingRow,
  type Settings,
  settingNames,
  settingProblems,
  settingRow,
  settingsFile,
  type TlsFiles,
  unknownEntries,
} from './read-settings.ts'
