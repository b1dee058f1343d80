import { type JsonObject, objectOf, personaIn, stringOf } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import {
  type Call,
  type ClientModel,
  clientEmbeddingModels,
  clientModels,
  listChatModels,
} from '../operations/operations.ts'

export interface ListedModel extends ClientModel {
  readonly capabilities: readonly string[]
  /** The model as the runner on this machine lists it. */
  readonly row?: JsonObject
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

/** A model by its name in the list, or by its whole address: `plugin:model` of the active plugin, `local:NAME`. */
function tagged<T extends { readonly id: string; readonly plugin: string | null }>(
  models: readonly T[],
  asked: string,
): T | undefined {
  const bare = untagged(asked)
  return (
    models.find(({ id }) => id === asked) ??
    models.find(({ id }) => id === bare || id === `${bare}:latest`) ??
    models.find(({ id, plugin }) => [asked, bare, `${bare}:latest`].includes(`${plugin ?? 'local'}:${id}`))
  )
}

function untagged(name: string): string {
  return name.endsWith(':latest') ? name.slice(0, -':latest'.length) : name
}

/** The models of chats, personas among them, and those that make embeddings, as far as the caller may use them. */
export async function listedModels(call: Call): Promise<readonly ListedModel[]> {
  const { ollama } = await call.app.chat()
  const rows = new Map(((await ollama.models()) ?? []).map(({ name, row }) => [name, row]))
  const listed = (models: readonly ClientModel[], capabilities: readonly string[]) =>
    models.map((model) => {
      const row = model.plugin === null ? rows.get(model.id) : undefined
      const known = namesIn(row?.['capabilities']) ?? capabilitiesOf(model) ?? capabilities
      return { ...model, capabilities: known, ...(row && { row }) }
    })
  return [
    ...listed(await clientModels(call), chatCapabilities),
    ...listed(await clientEmbeddingModels(call), ['embedding']),
  ]
}

function namesIn(list: unknown): readonly string[] | undefined {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : undefined
}

/** The capabilities of a model whose facts are known, as Ollama names them. */
function capabilitiesOf({ tools, images, thinking }: ClientModel): readonly string[] | undefined {
  if (tools === undefined && images === undefined) return undefined
  const known = { tools: tools !== false, vision: images !== false, thinking: thinking === true }
  return ['completion', ...Object.entries(known).flatMap(([name, has]) => (has ? [name] : []))]
}

/** Tools and pictures are announced for models of which nothing is known, and a model without them refuses them. */
const chatCapabilities = ['completion', 'tools', 'vision']
