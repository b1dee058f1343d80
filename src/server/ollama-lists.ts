import { createHash } from 'node:crypto'
import { permitsOf } from '../accounts/accounts.ts'
import { isObject, type JsonObject } from '../chat/chat.ts'
import type { Call } from '../operations/operations.ts'
import { factsOfShow } from '../plugins/plugins.ts'
import { findModel, type ListedModel, listedModels, nameIn } from './ollama-models.ts'

/**
 * The models as /api/tags has them (https://docs.ollama.com/api/tags). `model` has a tag as Ollama's have: clients such as
 * Open WebUI add `:latest` to a name without one. Size and digest of models that are elsewhere are not known.
 */
export async function tags(call: Call) {
  return { models: (await listedModels(call)).map(tagOf) }
}

/** The answer of /api/show for the model that the request names (https://docs.ollama.com/api-reference/show-model-details). */
export async function show(call: Call, body: unknown) {
  const found = await findModel(call, nameIn(body))
  const { id, plugin, persona, capabilities, created } = found
  const architecture = plugin ?? (persona ? 'persona' : 'local')
  const context = await windowOf(call, found)
  return {
    modelfile: `FROM ${id}`,
    parameters: '',
    template: '{{ .Prompt }}',
    details: detailsOf(found),
    model_info: {
      'general.architecture': architecture,
      ...(context !== undefined && { [`${architecture}.context_length`]: context }),
    },
    capabilities,
    modified_at: new Date(created).toISOString(),
  }
}

/** The window in tokens: of a persona that of her model, of a model on this machine the one that its runner states. */
async function windowOf(call: Call, { id, row, persona, context_window }: ListedModel): Promise<number | undefined> {
  if (persona)
    return findModel(call, persona.model).then(
      (model) => windowOf(call, model),
      () => undefined,
    )
  return context_window ?? (row && factsOfShow(await (await call.app.chat()).ollama.show(id)).context_window)
}

/** The models in the memory of the runner on this machine: /api/ps (https://docs.ollama.com/api/ps). */
export async function running({ app, caller: { key } }: Call) {
  // A key that is bound to personas sees nothing else.
  if (key?.personas) return { models: [] }
  const permits = permitsOf(key) ?? (() => true)
  const { ollama } = await app.chat()
  return { models: (await ollama.running()).filter(({ name }) => permits({ plugin: null, model: String(name) })) }
}

function tagOf(model: ListedModel) {
  const { id, capabilities, created } = model
  return {
    name: id,
    model: id.includes(':') ? id : `${id}:latest`,
    modified_at: new Date(created).toISOString(),
    size: 0,
    digest: createHash('sha256').update(id).digest('hex'),
    details: detailsOf(model),
    capabilities,
    ...knownOf(model),
  }
}

/** The runner's own facts. */
function knownOf({ row = {} }: ListedModel): JsonObject {
  return Object.fromEntries(
    ['modified_at', 'size', 'digest', 'details'].flatMap((name) => (row[name] ? [[name, row[name]]] : [])),
  )
}

function detailsOf({ plugin, persona, row }: ListedModel) {
  if (isObject(row?.['details'])) return row['details']
  const family = plugin ?? (persona ? 'persona' : 'local')
  return {
    parent_model: persona?.model ?? '',
    format: '',
    family,
    families: [family],
    parameter_size: '',
    quantization_level: '',
  }
}
