import {
  type Environment,
  originOf,
  restartSettings,
  type SettingName,
  type Settings,
  settingNames,
} from './read-settings.ts'

/** Settings that change in place: holders of the value see the newest fields at each read. */
export type LiveSettings = ReturnType<typeof liveSettings>

/** Settings whose fields read the latest values; those that need a restart keep their first value. */
export function liveSettings(first: Settings) {
  let current = first
  const settings = {}
  for (const name of Object.keys(first) as (keyof Settings)[])
    Object.defineProperty(settings, name, { enumerable: true, get: () => current[name] })
  return {
    settings: Object.freeze(settings) as Settings,
    /** Takes over all settings that need no restart, at once. */
    replace(next: Settings) {
      const kept = Object.fromEntries(
        ['paths', 'environment', 'database', ...Object.values(restartSettings)].map((name) => [
          name,
          first[name as keyof Settings],
        ]),
      )
      const { storedBytesPerUser, storedMemoriesPerUser } = first.limits
      const limits = { ...next.limits, storedBytesPerUser, storedMemoriesPerUser }
      current = Object.freeze({ ...next, ...kept, limits, tls: next.tls && first.tls ? next.tls : first.tls })
    },
  }
}

/** The values of all settings as texts, to compare two states of the settings file. */
export function settingValues(
  environment: Environment,
  file: Readonly<Record<string, unknown>>,
): Readonly<Record<SettingName, string>> {
  const names = Object.keys(settingNames) as SettingName[]
  return Object.fromEntries(names.map((name) => [name, originOf(name, environment, file).value])) as Record<
    SettingName,
    string
  >
}
