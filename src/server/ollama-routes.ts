import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { permitsOf, type Scope } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { isObject, type JsonObject, objectOf } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import {
  type Call,
  chat,
  createEmbeddings,
  embeddingsInput,
  embeddingsLimit,
  parseInput,
} from '../operations/operations.ts'
import { factsOfShow } from '../plugins/plugins.ts'
import { readJson } from './body.ts'
import { answerShaped } from './dialect-chat.ts'
import { ollamaError } from './dialect-errors.ts'
import type { Identify, Identity, Rule } from './identity.ts'
import { jsonType } from './media-type.ts'
import { loadedAnswer, nanoseconds, type OllamaKind, ollamaShape } from './ollama-chat.ts'
import { addressOf, embedderOf, findModel, type ListedModel, listedModels, nameIn } from './ollama-models.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { callOf, type Route } from './routes.ts'

type Answer = (context: RequestContext, identity: Identity) => void | Promise<void>

/** The version of Ollama's API that these routes follow: clients switch features on by it. */
const followedVersion = '0.13.0'

/** Ollama's examples send JSON as curl does by itself. No page can: the token needs a header, and that a preflight. */
const bodyTypes = [jsonType, 'application/x-www-form-urlencoded']

/** The routes that change models in Ollama. */
const refused = ['POST pull', 'POST push', 'POST create', 'POST copy', 'DELETE delete', 'POST blobs/:digest']

/** Ollama's API (https://docs.ollama.com/api) under a prefix, since its /api/chat and ours look alike. */
export function ollamaRoutes(app: App, identify: Identify): readonly Route[] {
  return [
    ...['/ollama', '/ollama/'].map((path) => open(path, greet)),
    open('/ollama/api/version', (context) => sendJson(context, 200, { version: followedVersion })),
    route('GET', 'tags', 'chat', async (context, identity) =>
      sendJson(context, 200, await tags(callOf(app, context, identity))),
    ),
    route('GET', 'ps', 'chat', async (context, identity) =>
      sendJson(context, 200, await running(callOf(app, context, identity))),
    ),
    route('POST', 'show', 'chat', async (context, identity) =>
      sendJson(
        context,
        200,
        await show(callOf(app, context, identity), await readJson(context.request, 1024 * 1024, bodyTypes)),
      ),
    ),
    route('POST', 'chat', 'chat', (context, identity) => answer('chat', context, identity)),
    route('POST', 'generate', 'chat', (context, identity) => answer('generate', context, identity)),
    route('POST', 'embed', 'embeddings', embed),
    route('POST', 'embeddings', 'embeddings', embedOne),
    ...refused.map((each) => {
      const [method, name] = each.split(' ') as [string, string]
      return route(method, name, 'chat', () => refuse(name.split('/')[0]!))
    }),
  ]

  function open(path: string, handle: (context: RequestContext) => void): Route {
    return { method: 'GET', path, errorBody: ollamaError, handle }
  }

  function route(method: string, name: string, scope: Scope, handle: Answer): Route {
    const rule: Rule = { access: 'user', scope }
    return {
      method,
      path: `/ollama/api/${name}`,
      errorBody: ollamaError,
      async handle(context) {
        const identity = identify(context, rule)
        await handle(context, identity instanceof Promise ? await identity : identity)
      },
    }
  }

  async function answer(kind: OllamaKind, context: RequestContext, identity: Identity): Promise<void> {
    const call = callOf(app, context, identity)
    const body = await readJson(context.request, chat.limit!, bodyTypes)
    const model = nameIn(body)
    const loaded = loadedAnswer(kind, body, model)
    if (loaded) {
      await findModel(call, model)
      return sendJson(context, 200, loaded)
    }
    const shape = ollamaShape(kind, model, (asked) => addressOf(call, asked))
    await answerShaped(app, context, identity, shape, body)
  }

  async function embed(context: RequestContext, identity: Identity): Promise<void> {
    const begun = performance.now()
    const body = objectOf(await readJson(context.request, embeddingsLimit, bodyTypes))
    const { vectors, tokens, model } = await embedded(context, identity, body, body['input'])
    sendJson(context, 200, {
      model,
      embeddings: vectors,
      total_duration: nanoseconds(performance.now() - begun),
      load_duration: 0,
      prompt_eval_count: tokens,
    })
  }

  /** The older route: one text, one vector. */
  async function embedOne(context: RequestContext, identity: Identity): Promise<void> {
    const body = objectOf(await readJson(context.request, embeddingsLimit, bodyTypes))
    if (typeof body['prompt'] !== 'string')
      throw new AppError('invalid', 'Invalid request', { details: ['prompt: must be text'] })
    const { vectors } = await embedded(context, identity, body, body['prompt'])
    sendJson(context, 200, { embedding: vectors[0] })
  }

  async function embedded(
    context: RequestContext,
    identity: Identity,
    body: Readonly<Record<string, unknown>>,
    input: unknown,
  ) {
    const call = callOf(app, context, identity)
    const model = nameIn(body)
    const { dimensions } = body
    const asked = { input, model: await embedderOf(call, model), ...(dimensions != null && { dimensions }) }
    const made = await createEmbeddings(call, parseInput({ input: embeddingsInput }, asked))
    return { vectors: made.data.map(({ embedding }) => embedding), tokens: made.usage.prompt_tokens, model }
  }
}

function greet({ response }: RequestContext): void {
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.end('Ollama is running')
}

function refuse(name: string): never {
  throw new AppError('invalid', `${name} is not offered here`, {
    details: ['Models come from plugins and from aichat models pull'],
  })
}

/**
 * The models as /api/tags has them (https://docs.ollama.com/api/tags). `model` has a tag as Ollama's have: clients such as
 * Open WebUI add `:latest` to a name without one. Size and digest of models that are elsewhere are not known.
 */
async function tags(call: Call) {
  return { models: (await listedModels(call)).map(tagOf) }
}

/** The answer of /api/show for the model that the request names (https://docs.ollama.com/api-reference/show-model-details). */
async function show(call: Call, body: unknown) {
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
async function running({ app, caller: { key } }: Call) {
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
