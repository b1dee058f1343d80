import { z } from 'zod'
import { getSetting, setSetting, listSettings as settingRows, unsetSetting } from '../app/app.ts'
import { AppError, toAppError } from '../errors.ts'
import { isSettingName, type SettingName, type SettingRow } from '../settings/settings.ts'
import { defineOperation } from './operation.ts'
import { noService } from './running-service.ts'

const setting = z.object({
  name: z.string(),
  value: z.string(),
  /** What it is taken from. */
  origin: z.string(),
  /** The variable that sets it, where there is one; it goes before the settings file. */
  variable: z.string().nullable(),
  what: z.string(),
  /** Whether a running service takes a change over, with `POST /api/service/reload`. */
  live: z.boolean(),
  /** Why the API does not change it; null where it does. */
  fixed: z.string().nullable(),
})

export const listSettings = defineOperation({
  name: 'settings.list',
  route: 'GET /api/settings',
  access: 'admin',
  summary:
    'Lists the settings of this installation with their values, as its settings file and its environment have them now.',
  input: z.object({}),
  output: z.object({ settings: z.array(setting) }),
  run: ({ app }) => ({ settings: settingRows(app.settings.environment).map(withReason) }),
})

/** What an administrator of the service may not decide: files of the machine, where keys go, who is believed, who gets in. */
const ofTheMachine: ReadonlySet<string> = new Set<SettingName>([
  'accounts.single_user_mode',
  'api.tls_cert',
  'api.tls_key',
  'api.trust_proxy',
  'backup.target',
  'chat.local_only',
  'plugins.key_hosts',
  'plugins.key_names',
  'speech.lexicon',
])

/** Settings of commands at a terminal, without an effect on the service. */
const ofTerminals: ReadonlySet<string> = new Set<SettingName>([
  'chat.compact',
  'chat.history',
  'chat.keep',
  'chat.persona',
  'chat.titles',
  'server',
])

/** A setting with the reason why the API does not change it. */
function withReason(row: SettingRow) {
  const { name, origin, variable, live } = row
  const inTerminal = `aichat config set ${name} VALUE`
  if (ofTerminals.has(name)) return { ...row, fixed: `For commands at a terminal: ${inTerminal}` }
  if (ofTheMachine.has(name)) return { ...row, fixed: `Only on the machine of the service: ${inTerminal}` }
  if (origin === 'environment') return { ...row, fixed: `The variable ${variable} of the service sets it` }
  return { ...row, fixed: live ? null : `Needs a restart: ${inTerminal}` }
}

const changeSetting = defineOperation({
  name: 'settings.set',
  route: 'PUT /api/settings/:name',
  access: 'admin',
  audited: true,
  failures: [404, 503],
  summary:
    'Writes a setting that may change while the service runs to its settings file, and takes the file over; null removes it there. A value that makes no sense changes nothing.',
  input: z.object({ name: z.string(), value: z.string().max(10_000).nullable() }),
  output: setting,
  locate: (_call, { name = '' }): SettingName => {
    if (isSettingName(name)) return name
    throw new AppError('not_found', 'Setting not found', { details: ['GET /api/settings lists them'] })
  },
  deed: ({ value }, _output, name) => ({ action: value === null ? 'settings.unset' : 'settings.set', subject: name }),
  run: async ({ app }, { value }, name) => {
    if (!app.reloader) throw noService()
    const { environment } = app.settings
    const before = withReason(getSetting(environment, name))
    if (before.fixed !== null)
      throw new AppError('invalid', `The API does not change ${name}`, { details: [before.fixed] })
    // A file with other faults is refused here, before anything is written.
    app.reloader.reload()
    try {
      if (value === null) unsetSetting(environment, name)
      else setSetting(environment, name, value)
    } catch (reason) {
      const { code, message, details } = toAppError(reason)
      throw code === 'configuration' ? new AppError('invalid', message, { details }) : reason
    }
    app.reloader.reload()
    await app.crew?.reloaded()
    return withReason(getSetting(environment, name))
  },
})

export const settingOperations = [listSettings, changeSetting]
