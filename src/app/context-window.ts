import type { PluginHost } from '../plugins/host.ts'

/** Tokens that every hosted model of today takes, and that local runners give a model by default. */
const hostedContext = 32_768
const localContext = 4_096

/** The context window, in tokens, of the model that is to answer: as its plugin tells it, else a cautious guess. */
export function contextTokens(plugins: PluginHost, model: string | undefined, plugin: string | undefined): number {
  const prefix = model?.split(':', 1)[0] ?? ''
  const manifest = plugins.find(plugin ?? prefix) ?? (plugin === undefined ? plugins.active('chat') : undefined)
  if (!manifest) return localContext
  const name = model?.startsWith(`${manifest.id}:`) ? model.slice(manifest.id.length + 1) : model
  const facts = manifest.models?.[name ?? manifest.default_model ?? manifest.model_map[0]!]
  const told = facts?.['context_window']
  return typeof told === 'number' && told > 0 ? told : hostedContext
}
