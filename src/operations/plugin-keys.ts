import { z } from 'zod'
import { openStoredKeys } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { type Call, defineOperation } from './operation.ts'
import { changesPlugins } from './plugins.ts'

/** The most characters of a key: the longest of today's providers have some 300. */
const longestKey = 4_096

const keyPlace = z.object({
  id: z.string(),
  /** The variable that the key stands for, which other plugins of the same provider use too. */
  key_env: z.string(),
  /** The place from which the key is read now: a variable of the service goes before a stored key. Null for none. */
  from: z.string().nullable(),
})

/** Throws `invalid` for a plugin that needs no key. */
function keyNameOf({ app }: Pick<Call, 'app'>, id: string): string {
  const { key_env } = app.plugins.get(id).auth
  if (key_env === '') throw new AppError('invalid', `The plugin ${id} needs no key`)
  return key_env
}

export const setPluginKey = defineOperation({
  name: 'plugins.set_key',
  route: 'PUT /api/plugins/:id/key',
  ...changesPlugins,
  summary:
    'Stores the key of a plugin, in the keychain of the machine or in a file that the service alone can read. No answer ever contains it.',
  locate: (call, { id = '' }) => void keyNameOf(call, id),
  input: z.object({
    id: z.string(),
    key: z
      .string()
      .max(longestKey, `must be at most ${longestKey} characters`)
      .transform((key) => key.trim())
      .refine((key) => /^[\x21-\x7e]+$/.test(key), 'must be printable ASCII without spaces'),
  }),
  output: keyPlace.extend({ stored: z.enum(['keychain', 'file']) }),
  run: async (call, { id, key }) => {
    const key_env = keyNameOf(call, id)
    const stored = await openStoredKeys(call.app).keep(key_env, key)
    // Other plugins may use the same key.
    for (const plugin of call.app.plugins.list()) if (plugin.auth.key_env === key_env) call.app.health.mended(plugin.id)
    return { id, key_env, from: call.app.keys.originOf(key_env) ?? null, stored }
  },
})

const removePluginKey = defineOperation({
  name: 'plugins.remove_key',
  route: 'DELETE /api/plugins/:id/key',
  ...changesPlugins,
  summary: 'Removes the stored key of a plugin; one in a variable of the service stays.',
  input: z.object({ id: z.string() }),
  output: keyPlace.extend({ removed: z.boolean() }),
  run: async (call, { id }) => {
    const key_env = keyNameOf(call, id)
    const removed = await openStoredKeys(call.app).remove(key_env)
    return { id, key_env, from: call.app.keys.originOf(key_env) ?? null, removed }
  },
})

export const pluginKeyOperations = [setPluginKey, removePluginKey]
