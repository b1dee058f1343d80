import type { PluginHost } from '../plugins/host.ts'
import { localContext } from '../runners/ollama.ts'

/** Tokens that every hosted model of today takes. */
const hostedContext = 32_768

/**
 * The context window that lists of models show, in tokens: as the plugin says, else a cautious guess. No request is cut by
 * it, see src/chat/fit-context.ts.
 */
export function contextTokens(plugins: PluginHost, model: string | undefined, plugin: string | undefined): number {
  const prefix = model?.split(':', 1)[0] ?? ''
  const manifest = plugins.find(plugin ?? prefix) ?? (plugin === undefined ? plugins.active('chat') : undefined)
  if (!manifest) return localContext
  const name = model?.startsWith(`${manifest.id}:`) ? model.slice(manifest.id.length + 1) : model
  const facts = manifest.models?.[name ?? manifest.default_model ?? manifest.model_map[0]!]
  const told = facts?.['context_window']
  return typeof told === 'number' && told > 0 ? told : hostedContext
}
