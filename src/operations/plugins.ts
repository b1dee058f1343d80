import { z } from 'zod'
import { AppError } from '../errors.ts'
import { boundedRecord, parseJson, requestBounds } from '../formats/formats.ts'
import { type PluginView, pluginManifest } from '../plugins/plugins.ts'
import { queryFlag } from './input.ts'
import { type Call, defineOperation } from './operation.ts'

const pluginId = z.object({ id: z.string() })

/** The host validates it by the plugin schema and by the operator's rules together, so that one answer names all problems. */
const pluginDocument = boundedRecord(z.string(), z.unknown(), 1000)
const bodySchema = { name: 'Plugin', schema: pluginManifest }

const kind = z.enum(['chat', 'embedding', 'tts'])

const pluginView = pluginManifest.extend({
  active: z.boolean(),
  source: z.enum(['bundled', 'user']),
  overridden: z.boolean(),
  key_set: z.boolean(),
  state: z.enum(['ready', 'key_missing', 'retired']),
})

/** A stored plugin, with warnings about its document: unknown fields, fallbacks to missing plugins. */
const writtenPlugin = pluginView.extend({ warnings: z.array(z.string()).default([]) })

function written({ app }: Pick<Call, 'app'>, view: PluginView) {
  return { ...view, warnings: app.plugins.warnings(app.plugins.export(view.id)) }
}

const readsPlugins = { access: 'user', impersonal: true } as const
/** The rules of what changes plugins, their keys and the models behind them. */
export const changesPlugins = { access: 'admin', impersonal: true, audited: true } as const

export const listPlugins = defineOperation({
  name: 'plugins.list',
  route: 'GET /api/plugins',
  ...readsPlugins,
  summary: 'Lists the installed plugins.',
  input: z.object({}),
  output: z.object({
    plugins: z.array(pluginView),
    /** Documents in the data folder that cannot be used, and why. */
    broken: z.array(z.object({ id: z.string(), problems: z.array(z.string()) })),
  }),
  run: ({ app }) => ({ plugins: app.plugins.list(), broken: app.plugins.broken() }),
})

export const currentPlugin = defineOperation({
  name: 'plugins.current',
  route: 'GET /api/plugins/active/current',
  ...readsPlugins,
  summary: 'Shows the active plugin of a kind, or null.',
  input: z.object({ type: kind.default('chat') }),
  output: pluginView.nullable(),
  run: ({ app }, { type }) => {
    const active = app.plugins.active(type)
    return active ? app.plugins.get(active.id) : null
  },
})

export const pluginStatus = defineOperation({
  name: 'plugins.status',
  route: 'GET /api/plugins/status/all',
  ...readsPlugins,
  summary: 'Shows for every plugin whether it is usable, its last error and its circuit.',
  input: z.object({}),
  output: z.object({
    plugins: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        type: z.string(),
        active: z.boolean(),
        state: z.string(),
        key_env: z.string(),
        key_set: z.boolean(),
        last_error: z.string().nullable(),
        last_used_at: z.int().nullable(),
        circuit: z.enum(['closed', 'open', 'half-open']),
      }),
    ),
  }),
  run: async ({ app }) => {
    const healthOf = (await app.crew?.health(app.health.of)) ?? app.health.of
    return {
      plugins: app.plugins.list().map((plugin) => ({
        id: plugin.id,
        name: plugin.name,
        type: plugin.type,
        active: plugin.active,
        state: plugin.state,
        key_env: plugin.auth.key_env,
        key_set: plugin.key_set,
        ...healthOf(plugin.id),
      })),
    }
  },
})

export const showPlugin = defineOperation({
  name: 'plugins.show',
  route: 'GET /api/plugins/:id',
  ...readsPlugins,
  summary: 'Shows one plugin.',
  input: pluginId,
  output: pluginView,
  run: ({ app }, { id }) => app.plugins.get(id),
})

export const exportPlugin = defineOperation({
  name: 'plugins.export',
  route: 'GET /api/plugins/:id/export',
  ...readsPlugins,
  summary: 'Exports the plugin document, which another installation can install.',
  input: pluginId,
  output: pluginManifest,
  attachment: (plugin) => `${plugin.id}.json`,
  run: ({ app }, { id }) => app.plugins.export(id),
})

export const installPlugin = defineOperation({
  name: 'plugins.install',
  route: 'POST /api/plugins/install',
  ...changesPlugins,
  summary: 'Installs a plugin document.',
  limit: 256 * 1024,
  bodyField: 'document',
  bodySchema,
  query: ['replace'],
  input: z.object({ document: pluginDocument, replace: queryFlag }),
  output: writtenPlugin,
  status: 201,
  run: async (call, { document, replace }) => written(call, await call.app.plugins.install(document, { replace })),
})

const uploadPlugin = defineOperation({
  name: 'plugins.upload',
  route: 'POST /api/plugins/upload',
  ...changesPlugins,
  summary: 'Installs a plugin document from an uploaded file.',
  limit: 512 * 1024,
  upload: { field: 'file', as: 'multipart' },
  query: ['replace'],
  input: z.object({ file: z.string().max(256 * 1024, 'must be at most 256 KiB'), replace: queryFlag }),
  output: writtenPlugin,
  status: 201,
  run: async (call, { file, replace }) =>
    written(call, await call.app.plugins.install(parseJson(file, 'the file', requestBounds), { replace })),
})

export const updatePlugin = defineOperation({
  name: 'plugins.update',
  route: 'PUT /api/plugins/:id',
  ...changesPlugins,
  summary: 'Replaces a plugin by a whole document with the same id.',
  limit: 256 * 1024,
  bodyField: 'document',
  bodySchema,
  locate: ({ app }, { id = '' }) => void app.plugins.get(id),
  input: z.object({ id: z.string(), document: pluginDocument }),
  output: writtenPlugin,
  run: async (call, { id, document }) => written(call, await call.app.plugins.update(id, document)),
})

export const removePlugin = defineOperation({
  name: 'plugins.remove',
  route: 'DELETE /api/plugins/:id',
  ...changesPlugins,
  summary: 'Removes a plugin; an overlay over a bundled one gives way to it, and a bundled one is hidden.',
  input: pluginId,
  output: z.object({ id: z.string(), removed: z.literal(true), restored: z.boolean() }),
  run: ({ app }, { id }) => app.plugins.remove(id),
})

export const activatePlugin = defineOperation({
  name: 'plugins.activate',
  route: 'POST /api/plugins/activate/:id',
  ...changesPlugins,
  summary: 'Makes a plugin the active one of its kind.',
  input: pluginId,
  output: z.object({ id: z.string(), active: z.literal(true), warnings: z.array(z.string()) }),
  run: async ({ app }, { id }) => {
    const { name, state, status, auth } = await app.plugins.activate(id)
    const warnings = {
      ready: [],
      key_missing: [`${auth.key_env} is not set: until it is, chats fall back to the local model runner`],
      retired: [
        `${name} is retired${status?.since ? ` since ${status.since}` : ''}${status?.note ? `: ${status.note}` : ''}`,
      ],
    }
    return { id, active: true as const, warnings: warnings[state] }
  },
})

export const deactivatePlugin = defineOperation({
  name: 'plugins.deactivate',
  route: 'POST /api/plugins/deactivate',
  ...changesPlugins,
  summary: 'Deactivates the active plugin of a kind.',
  query: ['type'],
  input: z.object({ type: kind.default('chat') }),
  output: z.object({ deactivated: z.string().nullable() }),
  deed: (_input, { deactivated: subject }) => (subject === null ? undefined : { subject }),
  run: async ({ app }, { type }) => ({ deactivated: (await app.plugins.deactivate(type)) ?? null }),
})

export const testPlugin = defineOperation({
  name: 'plugins.test',
  route: 'POST /api/plugins/:id/test',
  access: 'admin',
  impersonal: true,
  summary: 'Makes a tiny live call and names the step that failed.',
  input: pluginId,
  output: z.object({
    id: z.string(),
    ok: z.boolean(),
    model: z.string().nullable(),
    steps: z.array(z.object({ step: z.enum(['document', 'key', 'answer']), ok: z.boolean(), detail: z.string() })),
  }),
  run: async ({ app, caller, signal }, { id }) => {
    const plugin = app.plugins.get(id)
    const steps: { step: 'document' | 'key' | 'answer'; ok: boolean; detail: string }[] = [
      { step: 'document', ok: true, detail: 'valid' },
    ]
    const done = (model: string | null) => ({ id, ok: steps.every((step) => step.ok), model, steps })
    steps.push({
      step: 'key',
      ok: plugin.key_set,
      detail:
        plugin.auth.key_env === '' ? 'none needed' : `${plugin.auth.key_env} is ${plugin.key_set ? '' : 'not '}set`,
    })
    if (!plugin.key_set) return done(null)
    if (plugin.type === 'tts' || plugin.type === 'embedding')
      throw new AppError('invalid', `Only chat plugins can be tested with a chat; ${id} is of type ${plugin.type}`)
    try {
      const { router } = await app.chat()
      // Who tests it may have mended it: it is asked also while it rests after failures.
      app.health.mended(id)
      const { report } = await router.complete(
        {
          request: { messages: [{ role: 'user', content: 'Say ok.' }], max_tokens: 16 },
          plugin: id,
          fallback: false,
          user: caller.id,
          purpose: 'plugin_test',
        },
        signal,
      )
      steps.push({ step: 'answer', ok: true, detail: `${report.model} answered` })
      return done(report.model)
    } catch (reason) {
      if (!(reason instanceof AppError)) throw reason
      const { message, details } = reason
      // The detail of the one attempt repeats the reason.
      const sentence = message.slice(message.indexOf(': ') + 2)
      const rest = details.filter((line) => !line.endsWith(sentence))
      steps.push({ step: 'answer', ok: false, detail: [message, ...rest].join('; ') })
      return done(null)
    }
  },
})

export const pluginOperations = [
  listPlugins,
  currentPlugin,
  pluginStatus,
  installPlugin,
  uploadPlugin,
  activatePlugin,
  deactivatePlugin,
  showPlugin,
  exportPlugin,
  testPlugin,
  updatePlugin,
  removePlugin,
]
