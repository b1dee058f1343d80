import { z } from 'zod'
import { readSettingsFile, type SettingName, settingNames, settingRow } from '../settings/settings.ts'
import { defineOperation } from './operation.ts'

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
})

export const listSettings = defineOperation({
  name: 'settings.list',
  route: 'GET /api/settings',
  access: 'admin',
  summary:
    'Lists the settings of this installation with their values, as its settings file and its environment have them now.',
  input: z.object({}),
  output: z.object({ settings: z.array(setting) }),
  run: ({ app }) => {
    const { environment, paths } = app.settings
    const file = readSettingsFile(paths)
    const names = Object.keys(settingNames) as SettingName[]
    return { settings: names.map((name) => settingRow(name, environment, file)) }
  },
})

export const settingOperations = [listSettings]
