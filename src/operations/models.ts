import { z } from 'zod'
import { defineOperation } from './operation.ts'

const modelRow = z.object({
  id: z.string(),
  /** The plugin that offers it, or null for a model on this machine. */
  plugin: z.string().nullable(),
  runner: z.string().nullable(),
  type: z.enum(['chat', 'embedding', 'tts']),
  default: z.boolean(),
})

export const listModels = defineOperation({
  name: 'models.list',
  method: 'GET',
  path: '/api/models',
  access: 'user',
  summary:
    "Lists the models of the plugins, from their stored lists; with `installed`, those of this machine's runner.",
  input: z.object({
    plugin: z.exactOptional(z.string()),
    installed: z.union([z.boolean(), z.stringbool()]).default(false),
  }),
  output: z.object({ models: z.array(modelRow) }),
  run: async ({ app }, { plugin, installed }) => {
    if (installed) {
      const { ollama } = await app.chat()
      const names = (await ollama.models()) ?? []
      return {
        models: names.map(({ name, embedding }) => ({
          id: name,
          plugin: null,
          runner: 'ollama',
          type: embedding ? ('embedding' as const) : ('chat' as const),
          default: name === app.settings.localModel,
        })),
      }
    }
    const plugins = plugin === undefined ? app.plugins.list() : [app.plugins.get(plugin)]
    return {
      models: plugins.flatMap((view) =>
        view.model_map.map((id) => ({
          id,
          plugin: view.id,
          runner: null,
          type: view.type === 'completion' ? ('chat' as const) : view.type,
          default: id === (view.default_model ?? view.model_map[0]),
        })),
      ),
    }
  },
})

export const modelOperations = [listModels]
