import { AppError, toAppError } from '../errors.ts'
import {
  type LiveSettings,
  readSettings,
  readSettingsFile,
  restartSettings,
  type Settings,
  settingValues,
} from '../settings/settings.ts'

/** Checks a part of the next state and throws when it is bad; the returned function takes it over and cannot fail. */
export type Prepare = (next: Settings) => (() => void) | undefined

export interface Reloaded {
  /** Names of settings that changed and are in force. */
  readonly changed: readonly string[]
  /** Names of settings that changed and are taken over by the next start. */
  readonly needs_restart: readonly string[]
  /** Names of secrets that have another value now; never the value. */
  readonly secrets: readonly string[]
  /** Plugins that cannot be read; their previous version stays in force. */
  readonly rejected_plugins: readonly { readonly id: string; readonly problems: readonly string[] }[]
  readonly warnings: readonly string[]
}

/** Takes over the settings file, secrets and plugins of a running service. */
export type Reloader = ReturnType<typeof createReloader>

export interface ReloaderParts {
  readonly live: LiveSettings
  /** Settings that flags of the command line give, which no file changes. */
  readonly overrides: Partial<Settings>
  readonly reloadSecrets: () => { readonly changed: readonly string[]; readonly take: () => void }
  readonly reloadPlugins: () => Reloaded['rejected_plugins']
}

export function createReloader({ live, overrides, reloadSecrets, reloadPlugins }: ReloaderParts) {
  const { settings } = live
  const { environment, paths } = settings
  let values: ReturnType<typeof settingValues> | undefined
  const valuesNow = (file: Readonly<Record<string, unknown>>) => settingValues(environment, file)
  try {
    values = valuesNow(readSettingsFile(paths))
  } catch {
    // The start read the file a moment ago; without a state to compare with, nothing counts as changed.
  }
  /** Parts that are checked before anything is taken over; faces add theirs. */
  const parts = new Set<Prepare>()
  const listeners = new Set<(outcome: Reloaded | AppError) => void>()
  return {
    parts,
    listeners,
    /**
     * Takes over settings, secrets and plugins at once. Throws `configuration` with every problem where a part is bad;
     * then nothing changes. Values from the environment stay until a restart.
     */
    reload(): Reloaded {
      try {
        const outcome = takeOver()
        for (const tell of listeners) tell(outcome)
        return outcome
      } catch (thrown) {
        const reason = toAppError(thrown)
        for (const tell of listeners) tell(reason)
        throw reason
      }
    },
  }

  function takeOver(): Reloaded {
    const problems: string[] = []
    const attempt = <T>(check: () => T): T | undefined => {
      try {
        return check()
      } catch (thrown) {
        const { message, details } = toAppError(thrown)
        problems.push(...(details.length > 0 ? details.map((line) => `${message}: ${line}`) : [message]))
        return undefined
      }
    }
    const file = attempt(() => readSettingsFile(paths))
    const read = file && attempt(() => readSettings(environment, file))
    const next = read && { ...read, ...overrides }
    const takes = next ? [...parts].map((prepare) => attempt(() => prepare(next))) : []
    const secrets = attempt(reloadSecrets)
    if (problems.length > 0 || !file || !next || !secrets)
      throw new AppError('configuration', 'Nothing was taken over: the previous values stay in force', {
        details: problems,
      })
    const before = values ?? valuesNow(file)
    values = valuesNow(file)
    const changed = (Object.keys(values) as (keyof typeof values)[]).filter((name) => values![name] !== before[name])
    const isTlsSwitched = (next.tls === undefined) !== (settings.tls === undefined)
    const waits = (name: string) =>
      Object.hasOwn(restartSettings, name) || (isTlsSwitched && name.startsWith('api.tls_'))
    live.replace(next)
    secrets.take()
    for (const take of takes) take?.()
    return {
      changed: changed.filter((name) => !waits(name)),
      needs_restart: changed.filter(waits),
      secrets: secrets.changed,
      rejected_plugins: reloadPlugins(),
      warnings: next.warnings,
    }
  }
}
