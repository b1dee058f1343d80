import { z } from 'zod'
import { type Permits, permitsOf, requirePlace } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { hostOf, isCloudName, isLoopback, notHere, readWireError } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { builtinModel } from '../personas/personas.ts'
import { embedWithPlugin, type PluginManifest } from '../plugins/plugins.ts'
import { metered } from './metered.ts'
import type { Call } from './operation.ts'

/** OpenAI's request for embeddings (https://platform.openai.com/docs/api-reference/embeddings/create). */
export const embeddingsInput = z.looseObject({
  input: z.union(
    [z.string().max(200_000), z.array(z.string().max(200_000)).min(1).max(2048)],
    'must be a text or a list of 1 to 2048 texts; lists of tokens are not read',
  ),
  model: z.string().min(1).max(300).default(''),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.exactOptional(z.int().min(1).max(100_000)),
  /** True embeds on this machine only; the setting chat.local_only says so for all requests. */
  local_only: z.boolean().default(false),
})

export type EmbeddingsInput = z.output<typeof embeddingsInput>

/** The longest request body in bytes. */
export const embeddingsLimit = 16 * 1024 * 1024

interface Embeddings {
  readonly model: string
  readonly vectors: readonly Float32Array[]
  readonly tokens: number | undefined
}

/**
 * Embeddings in OpenAI's shape: by the plugin that the model's prefix or the active embedding plugin names, by the built-in
 * or the pulled model, or by the model runner. Throws `not_found` for an unknown model, and `model_not_allowed` for one that
 * the caller's key does not permit.
 */
export async function createEmbeddings(
  { app, caller, signal, watch }: Pick<Call, 'app' | 'caller' | 'signal' | 'watch'>,
  input: EmbeddingsInput,
) {
  const texts = [input.input].flat()
  const plugin = pluginFor(app, input.model)
  const isLocal = input.local_only || app.settings.localOnly
  if (plugin && isLocal) requireHere(plugin.manifest.id, plugin.model, plugin.manifest.endpoint)
  const permits = permitsOf(caller.key)
  const made = await metered(app, {
    caller,
    purpose: 'embeddings',
    place: { plugin: plugin?.manifest.id ?? null, model: plugin?.model ?? input.model },
    request: () => ({ messages: texts.map((content) => ({ role: 'user', content })) }),
    signal,
    watch,
    async run(attempt) {
      const answer = plugin
        ? await byPlugin(app, plugin, input, texts, { permits, signal })
        : await onThisMachine(app, input, texts, { permits, signal, isLocal })
      if (answer.tokens !== undefined) {
        const { tokens } = answer
        attempt.reported({ usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } })
      }
      return answer
    },
  })
  const tokens = made.tokens ?? estimateTokens(texts)
  return {
    object: 'list',
    data: made.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: input.encoding_format === 'base64' ? base64(vector) : Array.from(vector),
    })),
    model: made.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

interface EmbeddingsCall {
  /** Whether the caller's key permits a place. */
  readonly permits?: Permits | undefined
  readonly isLocal?: boolean
  readonly signal?: AbortSignal | undefined
}

interface PluginChoice {
  readonly manifest: PluginManifest
  readonly model: string
}

/** `plugin:model`, a model in the active embedding plugin's list, or that plugin where no model is named. */
function pluginFor(app: App, name: string): PluginChoice | undefined {
  const colon = name.indexOf(':')
  const named = colon > 0 ? app.plugins.find(name.slice(0, colon)) : undefined
  if (named?.type === 'embedding') return { manifest: named, model: name.slice(colon + 1) || defaultOf(named) }
  const active = app.plugins.active('embedding')
  if (!active || (name !== '' && !active.model_map.includes(name))) return undefined
  return { manifest: active, model: name || defaultOf(active) }
}

function defaultOf({ default_model: name, model_map: list }: PluginManifest): string {
  return name ?? list[0]!
}

async function byPlugin(
  app: App,
  { manifest, model }: PluginChoice,
  { dimensions }: EmbeddingsInput,
  input: readonly string[],
  { permits, signal }: EmbeddingsCall,
): Promise<Embeddings> {
  requirePlace(permits, { plugin: manifest.id, model })
  const { send } = await app.chat()
  const parts = {
    send,
    readError: readWireError,
    keyHeader: (url: string) => app.keys.headerFor(manifest, url),
    refusedAdvice: () => app.keys.refusedAdvice(manifest),
    redact: app.keys.redact,
    signal,
  }
  return { model, ...(await embedWithPlugin(manifest, { model, input, dimensions }, parts)) }
}

async function onThisMachine(
  app: App,
  { model, dimensions }: EmbeddingsInput,
  texts: readonly string[],
  { permits, signal, isLocal = false }: EmbeddingsCall,
): Promise<Embeddings> {
  const { embedders } = await app.personas()
  const { models } = await embedders.list(isLocal)
  const found = models.find(({ name }) => name === model || name === `${model}:latest`)
  // Default: the pulled model, else the built-in one.
  const chosen = model === '' ? (models.find(({ provider }) => provider === 'pulled') ?? models[0]) : found
  if (!chosen)
    throw new AppError('not_found', `Embedding model "${model.slice(0, 100)}" not found`, {
      details: [`Available: ${models.map(({ name }) => name).join(', ')}; pull another: aichat models pull minilm`],
    })
  requirePlace(permits, { plugin: null, model: chosen.name || builtinModel })
  const embedder = embedders.embedder(chosen.name)
  if (isLocal && embedder.endpoint !== undefined) requireHere('The model runner', chosen.name, embedder.endpoint)
  const { vectors } = await embedder.embed(texts, 'document', signal)
  const size = vectors[0]?.length ?? 0
  if (dimensions !== undefined && dimensions !== size)
    throw new AppError('invalid', 'Invalid request', {
      details: [`dimensions: ${chosen.name || builtinModel} has ${size}`],
    })
  return { model: chosen.name, vectors, tokens: undefined }
}

/** Throws `unavailable` for a place that is not on this machine. */
function requireHere(name: string, model: string, endpoint: string): void {
  if (!isLoopback(endpoint)) throw notHere(name, `its host ${hostOf(endpoint)} is another machine`)
  if (isCloudName(model)) throw notHere(name, `${model} is a model of Ollama's cloud`)
}

/** 32-bit numbers, little endian, as OpenAI's clients unpack them. */
function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

/** Four UTF-8 bytes each (OpenAI's rule of thumb for English), where the provider reports no count. */
function estimateTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}
