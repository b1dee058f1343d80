import { type Environment, originOf, type SettingName, type Settings, settingNames } from './settings.ts'

/**
 * The settings that a service cannot take over while it runs: what it listens on, where its data lies, and what clients of
 * other services, the storage and the days of the ledger were opened with.
 */
const fixed = {
  'api.host': 'listen',
  'api.port': 'listen',
  'plugins.allow_private': 'pluginAllowPrivate',
  'limits.stored_bytes_per_user': 'limits',
  'limits.stored_memories_per_user': 'limits',
  'responses.keep_days': 'responseDays',
  'usage.timezone': 'usageZone',
  'usage.keep_days': 'usageDays',
  'local.host': 'ollamaHost',
  'local.model': 'localModel',
  'models.folder': 'modelsFolder',
  'models.hub': 'hubEndpoint',
} as const satisfies Partial<Record<SettingName, keyof Settings>>

/** Their names. */
export const restartSettings: readonly string[] = Object.keys(fixed)

/** Whether a change of this setting needs a restart of the service. */
export function needsRestart(name: string): boolean {
  return Object.hasOwn(fixed, name)
}

/** Settings that change in place: those who keep the value and read its fields when they need them see the newest. */
export interface LiveSettings {
  readonly settings: Settings
  /** Takes over all settings that need no restart, at once. */
  replace(next: Settings): void
}

export function liveSettings(first: Settings): LiveSettings {
  let current = first
  const settings = {}
  for (const name of Object.keys(first) as (keyof Settings)[])
    Object.defineProperty(settings, name, { enumerable: true, get: () => current[name] })
  return {
    settings: Object.freeze(settings) as Settings,
    replace(next) {
      const kept = Object.fromEntries(
        ['paths', 'environment', ...Object.values(fixed)].map((name) => [name, first[name as keyof Settings]]),
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
