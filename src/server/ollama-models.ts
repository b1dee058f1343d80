import { createHash } from 'node:crypto'
import { permitsOf } from '../accounts/keys/rights.ts'
import { contextTokens } from '../app/context-window.ts'
import { personaIn } from '../chat/model-address.ts'
import { isObject, type JsonObject, objectOf, stringOf } from '../chat/protocol/json-object.ts'
import { AppError } from '../errors.ts'
import { listChatModels } from '../operations/chat.ts'
import { type ClientModel, clientEmbeddingModels, clientModels } from '../operations/client-models.ts'
import type { Call } from '../operations/operation.ts'

/** A model in Ollama's lists. */
interface ListedModel extends ClientModel {
  readonly capabilities: readonly string[]
  /** What the runner on this machine says of it. */
  readonly row?: JsonObject
}

/**
 * The models as /api/tags has them (https://docs.ollama.com/api/tags). `model` has a tag as Ollama's have: clients such as
 * Open WebUI add `:latest` to a name without one. Size and digest of models that are elsewhere are not known.
 */
export async function tags(call: Call) {
  return { models: (await listedModels(call)).map(tagOf) }
}

/** What /api/show says of the model that the request names (https://docs.ollama.com/api-reference/show-model-details). */
export async function show(call: Call, body: unknown) {
  const found = await findModel(call, nameIn(body))
  const { id, plugin, persona, capabilities, context_window, created } = found
  const architecture = plugin ?? (persona ? 'persona' : 'local')
  const context = context_window ?? contextTokens(call.app.plugins, persona?.model ?? id, plugin ?? undefined)
  return {
    modelfile: `FROM ${id}`,
    parameters: '',
    template: '{{ .Prompt }}',
    details: detailsOf(found),
    model_info: { 'general.architecture': architecture, [`${architecture}.context_length`]: context },
    capabilities,
    modified_at: new Date(created).toISOString(),
  }
}

/** The model that a request names. Throws `invalid` where it names none. */
export function nameIn(body: unknown): string {
  const { model, name } = objectOf(body)
  // Older clients write `name`.
  const asked = stringOf(model) || stringOf(name)
  if (asked) return asked
  throw new AppError('invalid', 'Invalid request', { details: ['model is required'] })
}

/** The model of that name, with or without the tag `latest`. Throws `not_found` for one that the caller cannot use. */
export async function findModel(call: Call, asked: string): Promise<ListedModel> {
  const models = await listedModels(call)
  const named = personaIn(asked)
  const found = models.find(({ persona }) => persona && named === persona.id) ?? tagged(models, asked)
  if (found) return found
  throw new AppError('not_found', `model "${asked.slice(0, 100)}" not found`, {
    details: ['/ollama/api/tags lists them'],
  })
}

/**
 * The address at which the router knows a model of the list: one of this machine is asked for as `local:NAME`, so that
 * the answer is its own. A model that is not listed stays as it is, without its tag.
 */
export async function addressOf(call: Call, asked: string): Promise<string> {
  if (personaIn(asked) !== undefined) return asked
  const { models } = await listChatModels.run(call, {})
  const found = tagged(models, asked)
  if (found) return found.plugin === null ? `local:${found.id}` : found.id
  return untagged(asked)
}

/** The same for a model that makes embeddings. */
export async function embedderOf(call: Call, asked: string): Promise<string> {
  return tagged(await clientEmbeddingModels(call), asked)?.id ?? untagged(asked)
}

function tagged<T extends { readonly id: string }>(models: readonly T[], asked: string): T | undefined {
  const bare = untagged(asked)
  return models.find(({ id }) => id === asked) ?? models.find(({ id }) => id === bare || id === `${bare}:latest`)
}

function untagged(name: string): string {
  return name.endsWith(':latest') ? name.slice(0, -':latest'.length) : name
}

/** The models in the memory of the runner on this machine: /api/ps (https://docs.ollama.com/api/ps). */
export async function running({ app, caller: { key } }: Call) {
  // A key that is bound to personas sees nothing beside them.
  if (key?.personas) return { models: [] }
  const permits = permitsOf(key) ?? (() => true)
  const { ollama } = await app.chat()
  return { models: (await ollama.running()).filter(({ name }) => permits({ plugin: null, model: String(name) })) }
}

async function listedModels(call: Call): Promise<readonly ListedModel[]> {
  const { ollama } = await call.app.chat()
  const rows = new Map(((await ollama.models()) ?? []).map(({ name, row }) => [name, row]))
  const listed = (models: readonly ClientModel[], capabilities: readonly string[]) =>
    models.map((model) => {
      const row = model.plugin === null ? rows.get(model.id) : undefined
      return { ...model, capabilities: namesIn(row?.['capabilities']) ?? capabilities, ...(row && { row }) }
    })
  return [
    ...listed(await clientModels(call), chatCapabilities),
    ...listed(await clientEmbeddingModels(call), ['embedding']),
  ]
}

function namesIn(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : undefined
}

/** A provider's list does not say what a model takes: tools and pictures go to all of them, and one that takes none refuses them. */
const chatCapabilities = ['completion', 'tools', 'vision']

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
